// Lists of tasks in words, for messages.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe {

// Returns "0-3,5,6" for tasks in ascending order. Tasks in another order keep it: "2,0,1".
std::string task_ranges(const std::vector<TaskId>& tasks);

// Returns "task 3" or "tasks 0-2,5". Precondition: there are tasks.
std::string tasks_in_words(const std::vector<TaskId>& tasks);

}  // namespace poe
