// Develop mode's check that all members of a group make the same call (CCL paper, III.D).
#pragma once

#include <string>

#include "collectives/library.hpp"

namespace poe::collectives {

// Compares a call with those of the other members. Empty: all agree; else who calls what: "task 4
// calls mpc_bcast with root 2, tasks 0-3,5-7 with root 0". Blocking. Does not return when a member
// makes no call at all.
std::string disagreement(Library& library, Group& group, const CollectiveCall& call);

// "0-3,5-7" of sorted tasks.
std::string task_list(const std::vector<TaskId>& tasks);

}  // namespace poe::collectives
