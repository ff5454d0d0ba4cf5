// Picture: the state of all tasks, as the screen of pdbx shows it. Plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "debugger/task_set.hpp"
#include "terminal/activity.hpp"

namespace poe::debugger {

struct Picture {
    std::vector<terminal::Activity> tasks;
    std::string file;              // the source file of the task that is looked at; empty: none
    int line = 0;                  // where this task is in it
    std::map<int, TaskSet> marks;  // line of this file -> the stopped tasks that are there
    std::vector<std::string> stacks;

    bool operator==(const Picture&) const = default;
};

}  // namespace poe::debugger
