// How a job ended: which task failed first, what the exit status is, and what became of each task.
// Judge is the policy, a pure state machine: it is given the events of a job and returns what to do.
//
//   event                       effect                                    exit status
//   exit code 0, or 2 to 127    orderly: the other tasks continue         the largest code
//   exit code 1, or above 127   poe ends the job at once                  that code
//   death by a signal           poe ends the job at once                  128 + signal
//   mpc_stopall(n), MPI_Abort   poe ends the job at once                  n
//   end without MPI_Finalize    poe ends the job at once, because the     the task's code; 1 if that
//                               others would wait for the task forever    is 0
//   -maxtime expires            poe ends the job at once                  124
//   interrupt and the like      the signal is forwarded to all tasks      128 + signal, if tasks
//                                                                         died of it
// The first event that ends the job counts. What the tasks do after poe's SIGTERM does not.
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
    kOrderly,      // some ended with code 2..127, the others were not disturbed
    kExitCode,     // 1 or above 127
    kSignal,       // a task was killed by a signal that poe did not send
    kStopall,      // mpc_stopall
    kAbort,        // MPI_Abort, PMIx_Abort
    kLeft,         // ended between MPI_Init and MPI_Finalize, with whatever code
    kNotStarted,   // a program could not be loaded
    kInterrupted,  // poe was told to end by a signal
    kMaxtime,
    kNodeFailed,   // a node cannot go on (its PMIx server died)
    kLostDaemon,   // pmd died, or does not answer
    kOutputError,  // poe could not write what the tasks wrote
    kOutputClosed  // nobody reads poe's output any more: no error
};

struct TaskEnd {
    std::optional<TaskExit> exit;  // none: did not start, or its daemon was lost
    bool ended_by_poe = false;     // after poe had decided to end the job
};

struct Outcome {
    Cause cause = Cause::kNone;
    int status = 0;                       // poe's exit status
    std::optional<TaskId> first_failure;  // the task behind `cause`
    std::string text;  // words that come with the cause (abort, lost daemon, ...)
    std::vector<LaunchFailure> not_started;
    bool unreached = false;      // nothing has run, since a node could not be reached
    bool never_ran = false;      // the job ended before any task was told to start
    std::vector<TaskEnd> tasks;  // by task id
    std::chrono::nanoseconds elapsed{0};
};

// What the caller must do next.
enum class Decision { kGoOn, kEndJob };

class FailurePolicy {
  public:
    explicit FailurePolicy(TaskId tasks) {
        outcome_.tasks.resize(static_cast<std::size_t>(tasks));
        ::sigemptyset(&forwarded_);
    }

    // There are so many tasks now: some were started by others, or could not be.
    void set_tasks(TaskId tasks) { outcome_.tasks.resize(static_cast<std::size_t>(tasks)); }

    Decision on_exit(const TaskExit& exit);
    Decision on_abort(TaskId task, int code, const std::string& text);
    // The task's exit was told before. Of no account when no other task runs any more.
    Decision on_left(TaskId task);
    Decision on_start_failed(std::vector<LaunchFailure> failures, const std::string& text);
    // A node could not be reached at all; another attempt may be luckier.
    Decision on_unreached(const std::string& text);
    Decision on_maxtime();
    Decision on_node_failed(const std::string& text);
    Decision on_lost_daemon(const std::string& text);
    Decision on_output_error(const std::string& text);
    Decision on_output_closed();
    // poe got SIGINT, SIGTERM, ... and passes it on; tasks may survive it.
    void on_signal_forwarded(int signal) { ::sigaddset(&forwarded_, signal); }
    // ... and shall not survive it: `signal` ends the job. `text`: what it waited for, if anything.
    Decision on_terminated(int signal, const std::string& text = "");

    bool ending() const { return ending_; }
    const Outcome& outcome() const { return outcome_; }

  private:
    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < outcome_.tasks.size();
    }
    Decision decide(Cause cause, int status, std::optional<TaskId> task, std::string text = "");

    Outcome outcome_;
    bool ending_ = false;
    sigset_t forwarded_;  // signals that were passed on to the tasks
};

}  // namespace poe::pm
