// See name_pattern.hpp.
#include "partition_manager/name_pattern.hpp"

namespace poe::pm {

std::optional<std::string> pattern_trouble(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') continue;
        if (++i == pattern.size()) return "a % at its end";
        if (std::string_view("rRhj%").find(pattern[i]) == std::string_view::npos)
            return "%" + std::string(1, pattern[i]) + " means nothing";
    }
    return std::nullopt;
}

std::string expand_pattern(std::string_view pattern, const JobSpec& job, TaskId task) {
    const std::string number = std::to_string(task);
    const std::size_t width = std::to_string(job.tasks.size() - 1).size();
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            text += pattern[i];
            continue;
        }
        switch (pattern[++i]) {
            case 'r':
                text += number;
                break;
            case 'R':
                text += std::string(width - number.size(), '0') + number;
                break;
            case 'h':
                text += job.nodes[static_cast<std::size_t>(
                    job.tasks[static_cast<std::size_t>(task)].node)];
                break;
            case 'j':
                text += job.id;
                break;
            default:
                text += pattern[i];
        }
    }
    return text;
}

}  // namespace poe::pm
