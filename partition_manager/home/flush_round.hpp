// FlushRound: finds out when a flush of standard output is complete (mpc_flush, mpc_stdout_mode).
// It is complete when every task has requested it or has ended, and at least one task has requested
// it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

class FlushRound {
  public:
    explicit FlushRound(TaskId tasks);

    // Both return true if this event has made the round complete. Until finish(), later requests
    // are ignored. Precondition: 0 <= task < tasks.
    bool on_mark(TaskId task, const std::optional<StdoutMode>& mode);
    bool on_exit(TaskId task);

    struct Result {
        bool agreed = true;  // all tasks that requested a mode requested the same one
        // That mode. Empty if no task requested one, or if the tasks did not agree.
        std::optional<StdoutMode> mode;
    };
    // Returns the result and begins the next round. If no task is left, that round is never
    // complete. Precondition: the round is complete.
    Result finish();

  private:
    bool complete_now();

    std::vector<bool> marked_;
    std::vector<bool> ended_;
    TaskId missing_;  // number of tasks that are neither marked nor ended
    TaskId marks_ = 0;
    bool complete_ = false;
    Result result_;
};

}  // namespace poe::pm
