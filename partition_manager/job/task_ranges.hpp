// "0-14,16": sets of tasks in words.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// `tasks` in rising order.
std::string task_ranges(const std::vector<TaskId>& tasks);

// "task 3" or "tasks 0-2,5".
std::string tasks_in_words(const std::vector<TaskId>& tasks);

}  // namespace poe::pm
