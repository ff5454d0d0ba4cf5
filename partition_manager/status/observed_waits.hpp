// Finds out what observed tasks wait for, from the counts of messages and calls of all tasks.
// Another MPI library does not show that a waiting task has polled again. Therefore a task counts
// as unable to continue only if nothing exists that could end its wait: no message that fits has
// been sent, no receive that fits has been posted, or a member has not begun the collective
// operation. Pure.
#pragma once

#include <vector>

#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

// The length of a message in `unexpected` of such a task.
inline constexpr Bytes kUnknownLength = ~Bytes{0};

// Sets `awaited` and `unexpected` of each observed task that waits; or marks it as able to continue
// (measured = false) if what it waits for exists, or if too little is known.
void resolve_observed_waits(std::vector<TaskState>& states);

}  // namespace poe::pm
