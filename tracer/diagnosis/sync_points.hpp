// Sync points: since when a waiting task and the task that it waits for can be compared. Pure.
#pragma once

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// Returns one moment for each wait of the history: the last one before the end of the wait at which
// the two tasks depended on each other.
//
// This is where one of them stopped waiting for the other, or where both were in a collective
// operation that neither had to stay in any longer. A message for which nobody has waited is none:
// a task that takes it late was late already when it was sent, and nobody has been told why. If
// there is no such moment, it is the beginning of the task that began later.
LongVector<Time> find_sync_points(const History& history);

}  // namespace poe::trace
