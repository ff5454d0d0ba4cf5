// The barrier over all tasks. Apart from the other collective operations because it is the first
// one and the only one that moves no data.
#pragma once

#include "comm/message_layer.hpp"

namespace poe::collectives {

// Returns kDone when every one of `tasks` tasks has called it; otherwise what went wrong, and
// `peer` is the task it went wrong with. Blocking. All tasks call in the same order. Dissemination:
// ceil(log2 n) rounds, in round k an empty message to the task 2^k further on and one from 2^k
// before. Two calls cannot mix, since messages between two tasks keep their order and a pair meets
// once per call. Source: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, 1988.
comm::Outcome sync_all(comm::MessageLayer& messages, TaskId me, std::uint32_t tasks, TaskId& peer);

}  // namespace poe::collectives
