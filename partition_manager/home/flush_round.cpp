// See flush_round.hpp.
#include "partition_manager/home/flush_round.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace poe::pm {

FlushRound::FlushRound(TaskId tasks)
    : marked_(static_cast<std::size_t>(tasks)),
      ended_(static_cast<std::size_t>(tasks)),
      missing_(tasks) {}

bool FlushRound::on_mark(TaskId task, const std::optional<StdoutMode>& mode) {
    const auto index = static_cast<std::size_t>(task);
    if (complete_ || marked_.at(index)) return false;
    marked_[index] = true;
    ++marks_;
    if (!ended_[index]) --missing_;
    if (mode) {
        if (!result_.mode) result_.mode = mode;
        if (result_.mode->kind != mode->kind || result_.mode->task != mode->task)
            result_.agreed = false;
    }
    return complete_now();
}

bool FlushRound::on_exit(TaskId task) {
    const auto index = static_cast<std::size_t>(task);
    if (ended_.at(index)) return false;
    ended_[index] = true;
    if (!marked_[index]) --missing_;
    return !complete_ && complete_now();
}

bool FlushRound::complete_now() {
    complete_ = missing_ == 0 && marks_ > 0;
    return complete_;
}

FlushRound::Result FlushRound::finish() {
    POE_CHECK(complete_, missing_);
    marked_.assign(marked_.size(), false);
    marks_ = 0;
    complete_ = false;
    missing_ = static_cast<TaskId>(std::count(ended_.begin(), ended_.end(), false));
    Result result = std::exchange(result_, {});
    if (!result.agreed) result.mode.reset();
    return result;
}

}  // namespace poe::pm
