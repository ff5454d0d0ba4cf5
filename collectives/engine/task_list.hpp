// Lists of tasks in words, for messages.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::collectives {

// Returns "0-3,5-7" for sorted tasks, "2,0,1" for others.
std::string task_list(const std::vector<TaskId>& tasks);

}  // namespace poe::collectives
