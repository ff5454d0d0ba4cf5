// MPL's control of standard output: flushing, and poe's output mode; see mpproto.h.
#include <algorithm>
#include <chrono>

#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"
#include "comm/api/program_output.hpp"
#include "comm/bootstrap/control_line.hpp"

namespace poe::comm {
namespace {

static_assert(STDIO_UNORDERED == kFlushUnordered && STDIO_ORDERED == kFlushOrdered);

constexpr int kFlushStdout = 1;

// The daemon answers when all tasks have made the request. Meanwhile this task must let messages
// make progress for tasks that still send to it. That is rare, so it polls at increasing intervals.
constexpr std::chrono::milliseconds kFirstLook{1};
constexpr std::chrono::milliseconds kRareLook{10};

int flush(ApiCall& call, const FlushRequest& request) {
    flush_program_output(false);
    ControlLine* line = call.runtime().control();
    if (line == nullptr) return 0;
    call.doing(Call::kFlush, TaskActivity::kAnyPeer, 0, 0);
    line->send(request);
    MessageLayer& messages = call.runtime().messages();
    messages.begin_wait_elsewhere();
    std::optional<FlushAnswer> answer;
    for (auto patience = kFirstLook; !answer; patience = std::min(2 * patience, kRareLook)) {
        messages.look_elsewhere({Awaited::Kind::kAll, Awaited::kAnybody, -1});
        answer = line->wait(patience);
    }
    if (request.has_mode == 0 || answer->agreed != 0) return 0;
    return call.refuse(MplError::kDisagreement,
                       "the tasks asked for different modes of standard output",
                       "give the same mode in all tasks; the mode stays as it was");
}

}  // namespace

int api_flush(const Caller& name, int option) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (option != kFlushStdout) {
        return call.refuse(MplError::kQuery, "there is no option " + std::to_string(option),
                           "the only option is 1, standard output");
    }
    return call.run([&] { return flush(call, {.task = call.runtime().task()}); });
}

int api_stdout_mode(const Caller& name, int mode) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (mode != STDIO_ORDERED && mode != STDIO_UNORDERED && !is_task(call.runtime(), mode)) {
        return call.refuse(
            MplError::kQuery, "standard output has no mode " + std::to_string(mode),
            "give STDIO_ORDERED, STDIO_UNORDERED or a task; " + task_range(call.runtime()));
    }
    return call.run(
        [&] { return flush(call, {.task = call.runtime().task(), .has_mode = 1, .mode = mode}); });
}

}  // namespace poe::comm
