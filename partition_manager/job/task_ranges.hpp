// Sets of tasks in words: "0-14,16".
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// `tasks` must be in ascending order.
std::string task_ranges(const std::vector<TaskId>& tasks);

// "task 3" or "tasks 0-2,5".
std::string tasks_in_words(const std::vector<TaskId>& tasks);

}  // namespace poe::pm
