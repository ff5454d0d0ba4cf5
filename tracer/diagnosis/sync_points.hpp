// Sync points: since when a waiting task and the task that it waits for can be compared. Pure.
#pragma once

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// Returns one moment for each wait of the history: the last one before the end of the wait at which
// the two tasks depended on each other.
//
// At this moment, one of them stopped waiting for the other, or neither had to stay in a collective
// operation of both any longer. A message for which nobody has waited gives no such moment: a task
// that receives it late was late already, and no wait has been charged for that. If there is no
// such moment, it is the beginning of the task that began later.
LongVector<Time> find_sync_points(const History& history);

}  // namespace poe::trace
