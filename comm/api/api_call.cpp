// The error messages of the C API.
#include "comm/api/api_call.hpp"

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/calls.hpp"
#include "comm/api/mpproto.h"
#include "comm/bootstrap/call_error.hpp"

extern "C" {
MPL_EXPORT int mperrno = 0;
}

namespace poe::comm {

namespace {

// Returns the call that an entry point belongs to: mpc_send and mp_send are the same.
Call call_of(std::string_view entry) {
    const auto base = [](std::string_view name) { return name.substr(name.find('_') + 1); };
    for (std::uint16_t number = 1; number < kFirstMpiCall; ++number)
        if (base(call_name(static_cast<Call>(number))) == base(entry))
            return static_cast<Call>(number);
    return Call::kNone;
}

}  // namespace

int ApiCall::refuse(MplError number, const std::string& what, const std::string& way_out) const {
    mperrno = static_cast<int>(number);
    const std::string text = error_line(mperrno, caller_.name, runtime_, what, way_out);
    // A single write, so that the lines of several tasks do not mix.
    std::fwrite(text.data(), 1, text.size(), stderr);
    announce_error(call_of(caller_.name), "0032-" + std::to_string(mperrno) + " " + caller_.name +
                                              ": " + what +
                                              (way_out.empty() ? "" : "; " + way_out));
    return -1;
}

int ApiCall::refuse_unready() const {
    if (!runtime_.failure().empty()) {
        return refuse(MplError::kNotReady, "MPL is not available: " + runtime_.failure(), "");
    }
    return refuse(MplError::kBusy,
                  "another thread (or the code that a signal interrupted, or the call whose "
                  "reduction function this is) is in an MPL call",
                  "let one thread at a time call MPL, for example with a lock");
}

int ApiCall::refuse(Outcome outcome, TaskId peer) const {
    switch (outcome) {
        case Outcome::kNoBuffer:
            return refuse(MplError::kNoBuffer,
                          "the message to oneself does not fit into the buffer memory of " +
                              std::to_string(runtime_.buffer_mem()) + " bytes",
                          "receive earlier messages first, or raise MP_BUFFER_MEM");
        case Outcome::kNobodySends:
            return refuse(MplError::kNobodySends,
                          "this would wait forever: no such message is waiting, and only this task "
                          "itself could send it",
                          runtime_.tasks() == 1
                              ? "start more tasks (-procs), or send before receiving"
                              : "send before receiving");
        case Outcome::kPeerBroken: {
            const char* fault = runtime_.messages().fault_of(peer);
            return refuse(MplError::kPeerBroken,
                          "there are no more messages with task " + std::to_string(peer) + " (" +
                              (fault != nullptr ? fault : "reason unknown") + ")",
                          "look whether that task has ended, or has written outside of its arrays");
        }
        case Outcome::kPending:
        case Outcome::kDone:
        case Outcome::kNobodyReceives:  // only of synchronous sends
        case Outcome::kCancelled:
            break;
    }
    return 0;
}

void ApiCall::die(const std::string& what) const {
    mperrno = static_cast<int>(MplError::kFatal);
    announce_error(call_of(caller_.name), caller_.name + (": " + what));
    die_in_call(caller_.name, runtime_, what);
}

}  // namespace poe::comm
