// The message queues of a task in words, for `messages`. Pure.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/task_state.hpp"

namespace poe::debugger {

// Returns the receives that the task has posted and the messages that it has not received. Equal
// neighbours share a line. `at_most` limits the lines of each list.
std::vector<std::string> queue_lines(const pm::TaskState& state, std::size_t at_most = 20);

}  // namespace poe::debugger
