// The C API's single context, its start before main, its end, and its error messages.
#include "comm/api/api_call.hpp"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "comm/api/mpproto.h"
#include "comm/bootstrap/autostart.hpp"
#include "tracer/probe/process_context.hpp"

extern "C" {
MPL_EXPORT int mperrno = 0;
}

namespace poe::comm {

namespace {

// The work of the progress thread, executed as an API call.
class BackgroundProgress final : public ProgressWork {
  public:
    bool make_progress(bool handlers) noexcept override {
        process_context().runtime->let_handlers_wait(!handlers);
        const bool moved = move_messages();
        process_context().runtime->let_handlers_wait(false);
        return moved;
    }

    bool has_open_operations() const noexcept override {
        Runtime& runtime = *process_context().runtime;
        return runtime.failure().empty() &&
               (runtime.operations().any_open() || runtime.messages().has_more_to_do());
    }

  private:
    static constexpr int kLooks = 64;

    static bool move_messages() noexcept {
        const Caller caller("a message that came while the task computed,");
        ApiCall call(caller);
        if (!call.ready()) return false;
        bool moved = false;
        call.run([&] {
            MessageLayer& messages = call.runtime().messages();
            for (int looks = 0; looks < kLooks; ++looks) {
                // User functions run only in the task's own thread.
                const bool helped = messages.help(false);
                if (!messages.progress() && !helped) break;
                moved = true;
            }
            return 0;
        });
        return moved;
    }
};

BackgroundProgress the_background_progress;

}  // namespace

[[gnu::cold]] Runtime& make_runtime() {
    process_context().runtime = new Runtime([](const char* name) { return std::getenv(name); });
    // A child process shares the pipes but not the positions in them.
    ::pthread_atfork(nullptr, nullptr, [] {
        process_context().runtime->forget_progress_thread();
        process_context().runtime->fail(
            "this is a child process of the task; only the task itself may use MPL");
    });
    // After process_context().runtime is set, because the thread uses it.
    process_context().runtime->start_progress_thread(the_background_progress);
    return *process_context().runtime;
}

namespace {

std::string node_name() {
    char name[256] = "?";
    ::gethostname(name, sizeof name - 1);
    return name;
}

// Before main, so that a program started without poe becomes a job before it has done anything.
__attribute__((constructor)) void before_main(int count, char** arguments, char** environment) {
    const std::vector<std::string> words(arguments, arguments + count);
    if (wants_poe(words, environment)) become_poe(words);
}

__attribute__((destructor)) void after_main() {
    if (process_context().runtime == nullptr) return;
    process_context().runtime->stop_progress_thread();
    process_context().runtime->finish_sending();
    process_context().runtime->note_finished();
}

}  // namespace

int ApiCall::refuse(MplError number, const std::string& what, const std::string& way_out) const {
    mperrno = static_cast<int>(number);
    std::string text = "ERROR: 0032-" + std::to_string(mperrno) + " " + caller_.name + " in task " +
                       std::to_string(runtime_.task()) + " on node " + node_name() + ": " + what +
                       (way_out.empty() ? "" : "; " + way_out) + ".\n";
    // A single write, so that the lines of several tasks do not mix.
    std::fwrite(text.data(), 1, text.size(), stderr);
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
            return refuse(
                MplError::kNobodySends,
                "this would wait for ever: no such message is waiting, and only this task "
                "itself could send it",
                runtime_.tasks() == 1 ? "start more tasks (-procs), or send before receiving"
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
    refuse(MplError::kFatal, what, "the task ends");
    std::fflush(nullptr);
    ::_exit(1);
}

}  // namespace poe::comm
