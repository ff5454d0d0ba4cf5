// Joins tasks that follow each other to ranges; see task_ranges.hpp.
#include "base/task_ranges.hpp"

namespace poe {

std::string task_ranges(const std::vector<TaskId>& tasks) {
    std::string text;
    for (std::size_t i = 0; i < tasks.size();) {
        std::size_t last = i;
        while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
        if (!text.empty()) text += ",";
        text += std::to_string(tasks[i]);
        if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(tasks[last]);
        i = last + 1;
    }
    return text;
}

std::string tasks_in_words(const std::vector<TaskId>& tasks) {
    return (tasks.size() == 1 ? "task " : "tasks ") + task_ranges(tasks);
}

}  // namespace poe
