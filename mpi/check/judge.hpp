// The judge of collective calls: compares the descriptions of all members. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"
#include "mpi/check/description.hpp"

namespace poe::mpi::check {

struct Member {
    TaskId task = 0;
    int group = 0;  // 1: the second group of an intercommunicator
    int rank = 0;   // in its group
    Description description;
};

// Returns what is wrong: which tasks make which call, and where. No fault if all members make the
// same call. `members` are those of the first group in the order of their ranks, then those of the
// second.
Fault judge(const std::vector<Member>& members);

// Returns "task 3", "tasks 0-2,5" or "no tasks".
std::string words_of_tasks(const std::vector<TaskId>& tasks);

}  // namespace poe::mpi::check
