// OutputTails: keeps the last output of each task, for the final report and for displays.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

class OutputTails {
  public:
    // `kept`: the number of bytes per task that are guaranteed to be kept; up to twice as many are
    // stored.
    explicit OutputTails(std::size_t kept) : kept_(kept) {}
    OutputTails() = default;

    void append(TaskId task, std::string_view data);
    // Returns at most `lines` last lines, without their line feeds.
    std::vector<std::string> last_lines(TaskId task, std::size_t lines) const;

  private:
    std::size_t kept_ = 4096;
    std::unordered_map<TaskId, std::string> tails_;
};

}  // namespace poe::pm
