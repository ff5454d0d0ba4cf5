// FoldedOutput: the same line of many tasks shown once, with the tasks that wrote it, as in
// "0-14,16: text". Lines are kept for a moment (the caller's clock), so that tasks that say the
// same at about the same time come together; then they are given out, each task's in its order.
// Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

class FoldedOutput {
  public:
    // Whole lines of a task, or, at the end, one without a line feed.
    void append(TaskId task, std::string_view data);

    bool empty() const { return waiting_.empty() && open_.empty(); }
    std::size_t bytes() const { return bytes_; }

    // Gives out all that is kept.
    std::string give_out();

  private:
    std::vector<TaskId> who_is_at(const std::string& line, bool& awaited) const;
    std::string next_line() const;

    std::map<TaskId, std::deque<std::string>> waiting_;  // lines without their ends; no empty ones
    std::map<TaskId, std::string> open_;                 // begun, and not at its end
    std::size_t bytes_ = 0;
};

}  // namespace poe::pm
