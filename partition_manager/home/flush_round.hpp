// FlushRound: when a flush of standard output is complete (mpc_flush, mpc_stdout_mode): every task
// has asked for it, or ended, and at least one has asked. Pure.
#pragma once

#include <optional>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

class FlushRound {
  public:
    explicit FlushRound(TaskId tasks);

    // Both answer whether this has made the round complete; what comes after that counts for
    // nothing until finish(). Precondition: 0 <= task < tasks.
    bool on_mark(TaskId task, const std::optional<StdoutMode>& mode);
    bool on_exit(TaskId task);

    struct Result {
        bool agreed = true;              // all that asked for a mode asked for the same
        std::optional<StdoutMode> mode;  // that mode; nothing when there was none, or no agreement
    };
    // Precondition: the round is complete. Begins the next one; when nobody is left, it is never
    // complete.
    Result finish();

  private:
    bool complete_now();

    std::vector<bool> marked_;
    std::vector<bool> ended_;
    TaskId missing_;  // neither marked nor ended
    TaskId marks_ = 0;
    bool complete_ = false;
    Result result_;
};

}  // namespace poe::pm
