// FoldedOutput: shows a line that many tasks have written once, with these tasks, as in "0-14,16:
// text". Lines are kept for a moment (the caller has the clock), so that equal lines that tasks
// write at about the same time are folded. Then they are released; the lines of each task stay in
// order. Pure.
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
    // Adds whole lines of a task, or the last one without a line feed.
    void append(TaskId task, std::string_view data);

    bool empty() const { return waiting_.empty() && open_.empty(); }
    // Number of bytes that are kept.
    std::size_t bytes() const { return bytes_; }

    // Returns all kept lines in folded form, and forgets them.
    std::string give_out();

  private:
    std::vector<TaskId> who_is_at(const std::string& line, bool& awaited) const;
    std::string next_line() const;

    // Lines without their line feeds; no empty deques.
    std::map<TaskId, std::deque<std::string>> waiting_;
    std::map<TaskId, std::string> open_;  // lines without a line feed so far
    std::size_t bytes_ = 0;
};

}  // namespace poe::pm
