// Sets of tasks as users write them: "all", "5", "3:7", "0-6,8". Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/types.hpp"

namespace poe::debugger {

using TaskSet = std::set<TaskId>;

// The tasks 0 to tasks - 1.
TaskSet all_tasks(TaskId tasks);

// True if the text looks like a list of task numbers, so that a wrong one is an error and not the
// name of a group.
bool is_task_list(std::string_view text);

// Parses numbers and ranges with commas between them; "3:7" and "3-7" are the same range. Error:
// the text is no such list, or names a task that a job of `tasks` tasks does not have.
Result<TaskSet> parse_tasks(std::string_view text, TaskId tasks);

// "0-6,8".
std::string in_ranges(const TaskSet& tasks);
// "task 3" or "tasks 0-6,8".
std::string in_words(const TaskSet& tasks);

TaskSet intersection(const TaskSet& a, const TaskSet& b);
TaskSet difference(const TaskSet& a, const TaskSet& b);

}  // namespace poe::debugger
