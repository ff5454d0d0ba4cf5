// See output_tails.hpp.
#include "partition_manager/stdio/output_tails.hpp"

#include <algorithm>

namespace poe::pm {

void OutputTails::append(TaskId task, std::string_view data) {
    std::string& tail = tails_[task];
    tail.append(data.substr(data.size() - std::min(data.size(), kept_)));
    if (tail.size() > 2 * kept_) tail.erase(0, tail.size() - kept_);
}

std::vector<std::string> OutputTails::last_lines(TaskId task, std::size_t lines) const {
    std::vector<std::string> result;
    const auto found = tails_.find(task);
    if (found == tails_.end()) return result;
    std::string_view rest = found->second;
    while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
    while (!rest.empty() && result.size() < lines) {
        const std::size_t feed = rest.rfind('\n');
        const std::size_t begin = feed == std::string_view::npos ? 0 : feed + 1;
        result.emplace_back(rest.substr(begin));
        rest = rest.substr(0, feed == std::string_view::npos ? 0 : feed);
    }
    std::reverse(result.begin(), result.end());
    return result;
}

}  // namespace poe::pm
