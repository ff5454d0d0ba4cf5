// Lists of tasks in words; see task_list.hpp.
#include "collectives/engine/task_list.hpp"

namespace poe::collectives {

std::string task_list(const std::vector<TaskId>& tasks) {
    std::string text;
    for (std::size_t i = 0; i < tasks.size();) {
        std::size_t end = i + 1;
        while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(tasks[i]);
        if (end - i > 1) text += (end - i > 2 ? "-" : ",") + std::to_string(tasks[end - 1]);
        i = end;
    }
    return text;
}

}  // namespace poe::collectives
