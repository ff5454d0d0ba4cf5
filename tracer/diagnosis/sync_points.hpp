// Sync points: where two tasks communicated last before a wait. Pure.
#pragma once

#include <vector>

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// The moments from which the waiting task and the task that it waits for can be compared.
struct SyncPoint {
    Time waiting{0};
    Time awaited{0};
};

// Returns one for each wait of the history. If the two tasks have not communicated before, it is
// their first activity.
LongVector<SyncPoint> find_sync_points(const History& history);

}  // namespace poe::trace
