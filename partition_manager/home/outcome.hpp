// The outcome of a job: which task failed first, what the exit status is, and how each task ended.
// FailurePolicy is the policy, a pure state machine: it receives the events of a job and returns
// what to do.
//
//   event                       effect                                    exit status
//   exit code 0, or 2 to 127    orderly: the other tasks continue         the largest code
//   exit code 1, or above 127   poe ends the job at once                  that code
//   death by a signal           poe ends the job at once                  128 + signal
//   mpc_stopall(n), MPI_Abort   poe ends the job at once                  n
//   a fatal error of MPI        poe ends the job at once                  the code; 1 if its low
//                                                                         8 bits are 0
//   end without MPI_Finalize    poe ends the job at once, because the     the code; 1 if that
//                               others would wait for the task forever    is 0
//   -maxtime expires            poe ends the job at once                  124
//   interrupt and the like      the signal is forwarded to all tasks      128 + signal, if tasks
//                                                                         died of it
// Only the first event that ends the job counts. What tasks do after poe's SIGTERM is ignored. The exception is an MPI
// error that is a consequence of the end of another task (is_consequence). poe may learn of it before it learns how that
// other task ended. If the end of another task explains it, that event counts instead.
// Source: Parallel Environment, "Hitchhiker's Guide"; poe(1), EXIT STATUS.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

enum class Cause {
    kNone,         // all tasks ended with code 0
    kOrderly,      // some tasks ended with code 2..127; the others continued undisturbed
    kExitCode,     // a task ended with code 1 or above 127
    kSignal,       // a task was killed by a signal that poe did not send
    kStopall,      // mpc_stopall
    kAbort,        // MPI_Abort, PMIx_Abort
    kMpiError,     // an error of an MPI call whose error handler is MPI_ERRORS_ARE_FATAL
    kLeft,         // a task ended between MPI_Init and MPI_Finalize, with any code
    kNotStarted,   // a program could not be loaded
    kInterrupted,  // a signal told poe to end
    kMaxtime,
    kNodeFailed,   // a node cannot continue (its PMIx server died)
    kLostDaemon,   // pmd died, or does not answer
    kOutputError,  // poe could not write what the tasks wrote
    kOutputClosed  // the reader of poe's output has closed it; not an error
};

struct TaskEnd {
    std::optional<TaskExit> exit;  // empty: did not start, or its daemon was lost
    bool ended_by_poe = false;     // the task ended after poe had decided to end it, or its job
};

struct Outcome {
    Cause cause = Cause::kNone;
    int status = 0;                       // poe's exit status
    std::optional<TaskId> first_failure;  // the task that is responsible for `cause`
    std::string text;                     // explains the cause (abort, lost daemon, ...)
    std::vector<LaunchFailure> not_started;
    // A node could not be reached, so no task has run.
    bool unreached = false;
    // The nodes that other jobs did not leave to this one, so no task has run.
    std::vector<NodeIndex> busy;
    bool never_ran = false;      // the job ended before any task was told to start
    std::vector<TaskEnd> tasks;  // by task id
    std::chrono::nanoseconds elapsed{0};
};

// Returns true if the task has stopped because it needed a task that had ended
// (MPI_ERR_PROC_ABORTED).
bool is_consequence(const TaskStop& stop);

// Tells the caller what to do next.
enum class Decision { kGoOn, kEndJob };

class FailurePolicy {
  public:
    explicit FailurePolicy(TaskId tasks) {
        outcome_.tasks.resize(static_cast<std::size_t>(tasks));
        ::sigemptyset(&forwarded_);
    }

    // Sets the number of tasks. It changes when tasks start more tasks, or when these cannot be
    // started.
    void set_tasks(TaskId tasks) { outcome_.tasks.resize(static_cast<std::size_t>(tasks)); }

    Decision on_exit(const TaskExit& exit);
    // The task was started by another one, whose call has failed and reports it. The job continues.
    void on_failed_spawn(const TaskExit& exit);
    Decision on_abort(TaskId task, int code, const std::string& text);
    // A task ended before MPI_Finalize. Its exit must have been reported before. Ignored if no
    // other task runs any more.
    Decision on_left(TaskId task);
    Decision on_start_failed(std::vector<LaunchFailure> failures, const std::string& text);
    // A node is used or reserved by another job. A later attempt may succeed. `node` is an index
    // into the job's nodes.
    Decision on_busy(NodeIndex node, const std::string& text);
    // A node could not be reached at all. A later attempt may succeed.
    Decision on_unreached(const std::string& text);
    Decision on_maxtime();
    Decision on_node_failed(const std::string& text);
    Decision on_lost_daemon(const std::string& text);
    Decision on_output_error(const std::string& text);
    Decision on_output_closed();
    // poe received SIGINT, SIGTERM, ... and forwards it. Tasks may survive it.
    void on_signal_forwarded(int signal) { ::sigaddset(&forwarded_, signal); }
    // The signal ends the job; tasks may not survive it. `text` says what poe was waiting for, if
    // anything.
    Decision on_terminated(int signal, const std::string& text = "");

    bool ending() const { return ending_; }
    const Outcome& outcome() const { return outcome_; }

  private:
    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < outcome_.tasks.size();
    }
    // Returns true if the decision was a consequence of another failure, which may be this exit.
    bool is_explained_by(const TaskExit& exit) const;
    Decision judge(const TaskExit& exit);
    Decision on_stop(TaskId task, const TaskStop& stop);
    Decision decide(Cause cause, int status, std::optional<TaskId> task, std::string text = "");

    Outcome outcome_;
    bool ending_ = false;
    sigset_t forwarded_;  // signals that poe has forwarded to the tasks
};

}  // namespace poe::pm
