// See task_set.hpp.
#include "debugger/task_set.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/parse.hpp"
#include "base/task_ranges.hpp"

namespace poe::debugger {

namespace {

std::vector<TaskId> in_order(const TaskSet& tasks) {
    return {tasks.begin(), tasks.end()};
}

UserError no_list(std::string_view text) {
    UserError error;
    error.text = "\"" + std::string(text) + "\" is no list of tasks";
    error.expected = "expected task numbers and ranges, such as 3, 3:7 or 0-6,8";
    return error;
}

}  // namespace

TaskSet all_tasks(TaskId tasks) {
    TaskSet all;
    for (TaskId task = 0; task < tasks; ++task) all.insert(all.end(), task);
    return all;
}

bool is_task_list(std::string_view text) {
    return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

Result<TaskSet> parse_tasks(std::string_view text, TaskId tasks) {
    TaskSet set;
    std::string_view rest = text;
    while (true) {
        const std::optional<TaskId> first = take_number<TaskId>(rest);
        std::optional<TaskId> last = first;
        if (first && !rest.empty() && (rest.front() == ':' || rest.front() == '-')) {
            rest.remove_prefix(1);
            last = take_number<TaskId>(rest);
        }
        if (!first || !last || *first < 0 || *last < *first) return no_list(text);
        if (*last >= tasks) {
            UserError error;
            error.text = "the job has no task " + std::to_string(*last);
            error.expected = tasks == 1 ? "its only task is 0"
                                        : "its tasks are 0 to " + std::to_string(tasks - 1);
            return error;
        }
        for (TaskId task = *first; task <= *last; ++task) set.insert(task);
        if (rest.empty()) return set;
        if (rest.front() != ',') return no_list(text);
        rest.remove_prefix(1);
    }
}

std::string in_ranges(const TaskSet& tasks) {
    return task_ranges(in_order(tasks));
}

std::string in_words(const TaskSet& tasks) {
    return tasks_in_words(in_order(tasks));
}

TaskSet intersection(const TaskSet& a, const TaskSet& b) {
    TaskSet both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    return both;
}

TaskSet difference(const TaskSet& a, const TaskSet& b) {
    TaskSet rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
    return rest;
}

}  // namespace poe::debugger
