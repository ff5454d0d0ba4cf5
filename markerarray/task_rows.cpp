// Implementation of task_rows.hpp.
#include "markerarray/task_rows.hpp"

#include <csignal>
#include <sys/wait.h>

#include "partition_manager/job/state_words.hpp"

namespace poe::markers {
namespace {

void describe_end(int status, TaskRow& row) {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    row.activity = well ? Activity::kEnded : Activity::kFailed;
    if (WIFSIGNALED(status)) {
        const char* name = ::sigabbrev_np(WTERMSIG(status));
        row.doing = name != nullptr ? std::string("killed by SIG") + name
                                    : "killed by signal " + std::to_string(WTERMSIG(status));
    } else {
        row.doing = well ? "ended" : "ended with code " + std::to_string(WEXITSTATUS(status));
    }
}

std::string peer_words(const char* way, TaskId peer) {
    return way + (peer < 0                  ? std::string("any")
                  : peer == kTaskOfOtherJob ? std::string("another job")
                                            : std::to_string(peer));
}

void describe_call(const pm::TaskState& state, TaskRow& row) {
    const TaskActivity& doing = state.doing;
    const Awaited& awaited = state.awaited;
    const CallKind kind = call_kind(doing.call);
    const bool known = state.measured && awaited.kind != Awaited::Kind::kUnknown;
    row.doing = call_name(doing.call);
    row.waits_ms = state.waits_ms;
    if (kind == CallKind::kCollective || kind == CallKind::kFlushes || kind == CallKind::kOther) {
        row.activity = Activity::kCollective;
        row.doing += pm::progress_in_words(state);
        if (known && awaited.peer >= 0) row.doing += ", waits for " + std::to_string(awaited.peer);
        row.doing += pm::communicator_in_words(state);
        return;
    }
    const bool to_send = known ? awaited.kind == Awaited::Kind::kRoom : kind == CallKind::kSends;
    row.activity = to_send ? Activity::kSending : Activity::kReceiving;
    if (kind == CallKind::kCompletes) {
        if (known) row.doing += peer_words(to_send ? " to " : " from ", awaited.peer);
    } else {
        row.doing += peer_words(kind == CallKind::kReceives ? " from " : " to ", doing.peer);
        if (doing.type >= 0) row.doing += pm::type_in_words(doing);
    }
    row.doing += pm::communicator_in_words(state);
}

// For a task that is not in an MPL call, or whose program does not use MPL.
void describe_process(const pm::ProcessesView& processes, TaskRow& row) {
    const bool runs = !processes.known || processes.runs;
    row.activity = runs ? Activity::kComputing : Activity::kIdle;
    row.doing = runs ? "computing" : processes.disk ? "idle, waits for a disk" : "idle";
}

}  // namespace

void describe(const pm::TaskState& state, const pm::ProcessesView& processes, TaskRow& row) {
    using Life = pm::TaskState::Life;
    row.waits_ms = 0;
    if (state.life == Life::kEnded) return describe_end(state.wait_status, row);
    if (state.pid == 0) {
        row.activity = Activity::kNotStarted;
        row.doing = "unstarted";
        return;
    }
    if (state.life == Life::kInside && state.doing.call != Call::kNone)
        describe_call(state, row);
    else
        describe_process(processes, row);
    if (!processes.stopped) return;
    row.doing = "stopped, " + row.doing;
    row.activity = Activity::kStopped;
}

TaskRow row_of(const pm::WatchedTask& task) {
    TaskRow row;
    row.task = task.state.task;
    row.node = task.state.node;
    describe(task.state, task.processes, row);
    if (task.state.life != pm::TaskState::Life::kEnded) {
        row.pid = task.state.pid;
        row.cpu_percent = task.processes.cpu_percent;
        row.memory = task.processes.memory;
        row.switches_per_second = task.processes.switches_per_second;
        row.disk_read_per_second = task.processes.disk_read_per_second;
        row.disk_written_per_second = task.processes.disk_written_per_second;
        row.sent_per_second = task.sent_per_second;
        row.received_per_second = task.received_per_second;
    }
    row.lights = task.lights;
    row.text = task.text.text;
    row.text_count = task.text.number;
    row.progress = {std::min(task.done, task.total), task.total};
    return row;
}

void lose(TaskRow& row) {
    row.activity = Activity::kUnknown;
    row.doing = "gone";
    row.waits_ms = 0;
    row.pid = 0;
    row.cpu_percent = -1;
    row.memory = 0;
    row.sent_per_second = row.received_per_second = 0;
    row.switches_per_second = row.disk_read_per_second = row.disk_written_per_second = 0;
}

}  // namespace poe::markers
