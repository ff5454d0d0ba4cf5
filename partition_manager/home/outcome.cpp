// The failure policy; see outcome.hpp.
#include "partition_manager/home/outcome.hpp"

#include <algorithm>
#include <csignal>

namespace poe::pm {

namespace {

constexpr int kMaxtimeStatus = 124;
constexpr int kNotStartedStatus = 255;

bool ends_the_job(int code) {
    return code == 1 || code > 127;
}

// If the low 8 bits of a nonzero code are 0, the status is 1, because an exit status of 0 would
// hide the failure.
int status_of_abort(int code) {
    return code != 0 && (code & 255) == 0 ? 1 : code & 255;
}

}  // namespace

bool is_consequence(const TaskStop& stop) {
    return stop.kind == StopKind::kMpiError &&
           stop.text.find("(MPI_ERR_PROC_ABORTED)") != std::string::npos;
}

// Only the first decision counts.
Decision FailurePolicy::decide(Cause cause, int status, std::optional<TaskId> task,
                               std::string text) {
    if (ending_) return Decision::kGoOn;
    ending_ = true;
    outcome_.cause = cause;
    outcome_.status = status;
    outcome_.first_failure = task;
    outcome_.text = std::move(text);
    return Decision::kEndJob;
}

Decision FailurePolicy::on_exit(const TaskExit& exit) {
    if (!is_task(exit.task)) return Decision::kGoOn;
    TaskEnd& end = outcome_.tasks[static_cast<std::size_t>(exit.task)];
    const bool explains = is_explained_by(exit);
    end.exit = exit;
    end.ended_by_poe = ending_ && !explains;
    if (explains) {
        ending_ = false;
        judge(exit);
        return Decision::kGoOn;
    }
    return ending_ ? Decision::kGoOn : judge(exit);
}

bool FailurePolicy::is_explained_by(const TaskExit& exit) const {
    if (!ending_ || outcome_.cause != Cause::kMpiError) return false;
    // The text of a decision for kMpiError is that of the task's stop.
    if (!is_consequence({StopKind::kMpiError, 0, outcome_.text})) return false;
    if (exit.stop) return !is_consequence(*exit.stop);
    // poe ends tasks with SIGTERM and SIGKILL, and an exit code may be that of a handler of
    // SIGTERM.
    return exit.signal != 0 && exit.signal != SIGTERM && exit.signal != SIGKILL &&
           ::sigismember(&forwarded_, exit.signal) != 1;
}

Decision FailurePolicy::judge(const TaskExit& exit) {
    if (exit.stop) return on_stop(exit.task, *exit.stop);
    if (exit.signal != 0) {
        const bool ours = ::sigismember(&forwarded_, exit.signal) == 1;
        return decide(ours ? Cause::kInterrupted : Cause::kSignal, 128 + exit.signal,
                      ours ? std::optional<TaskId>() : exit.task);
    }
    if (ends_the_job(exit.code)) return decide(Cause::kExitCode, exit.code, exit.task);
    if (exit.code != 0) {
        if (outcome_.cause == Cause::kNone) outcome_.first_failure = exit.task;
        outcome_.cause = Cause::kOrderly;
        outcome_.status = std::max(outcome_.status, exit.code);
    }
    return Decision::kGoOn;
}

void FailurePolicy::on_failed_spawn(const TaskExit& exit) {
    if (!is_task(exit.task)) return;
    TaskEnd& end = outcome_.tasks[static_cast<std::size_t>(exit.task)];
    end.exit = exit;
    end.ended_by_poe = true;
}

Decision FailurePolicy::on_stop(TaskId task, const TaskStop& stop) {
    if (stop.kind == StopKind::kMpiError)
        return decide(Cause::kMpiError, status_of_abort(stop.code), task, stop.text);
    if (stop.kind == StopKind::kMpiAbort) return on_abort(task, stop.code, "");
    return decide(Cause::kStopall, stop.code & 255, task);
}

Decision FailurePolicy::on_abort(TaskId task, int code, const std::string& text) {
    return decide(Cause::kAbort, status_of_abort(code),
                  is_task(task) ? std::optional(task) : std::nullopt, text);
}

Decision FailurePolicy::on_left(TaskId task) {
    if (!is_task(task)) return Decision::kGoOn;
    const std::optional<TaskExit>& exit = outcome_.tasks[static_cast<std::size_t>(task)].exit;
    if (!exit) return Decision::kGoOn;
    const auto runs = [](const TaskEnd& end) { return !end.exit; };
    if (std::none_of(outcome_.tasks.begin(), outcome_.tasks.end(), runs)) return Decision::kGoOn;
    return decide(Cause::kLeft, exit->code != 0 ? exit->code : 1, task);
}

Decision FailurePolicy::on_start_failed(std::vector<LaunchFailure> failures,
                                        const std::string& text) {
    std::erase_if(failures, [this](const LaunchFailure& f) { return !is_task(f.task); });
    outcome_.not_started.insert(outcome_.not_started.end(), failures.begin(), failures.end());
    const std::optional<TaskId> first =
        failures.empty() ? std::nullopt : std::optional<TaskId>(failures.front().task);
    return decide(Cause::kNotStarted, failures.empty() ? 1 : kNotStartedStatus, first, text);
}

Decision FailurePolicy::on_busy(NodeIndex node, const std::string& text) {
    // Another node of the same job may be busy, too.
    if (!ending_ || !outcome_.busy.empty()) outcome_.busy.push_back(node);
    return on_start_failed({}, text);
}

Decision FailurePolicy::on_unreached(const std::string& text) {
    if (!ending_) outcome_.unreached = true;
    return on_start_failed({}, text);
}

Decision FailurePolicy::on_maxtime() {
    return decide(Cause::kMaxtime, kMaxtimeStatus, std::nullopt);
}

Decision FailurePolicy::on_node_failed(const std::string& text) {
    return decide(Cause::kNodeFailed, 1, std::nullopt, text);
}

Decision FailurePolicy::on_lost_daemon(const std::string& text) {
    return decide(Cause::kLostDaemon, 1, std::nullopt, text);
}

Decision FailurePolicy::on_output_error(const std::string& text) {
    return decide(Cause::kOutputError, 1, std::nullopt, text);
}

Decision FailurePolicy::on_output_closed() {
    return decide(Cause::kOutputClosed, 128 + SIGPIPE, std::nullopt);
}

Decision FailurePolicy::on_terminated(int signal, const std::string& text) {
    return decide(Cause::kInterrupted, 128 + signal, std::nullopt, text);
}

}  // namespace poe::pm
