// How long collective calls take with each algorithm that could be chosen for them, measured: for
// mptune, which compares that with what the model says. Runs schedules as a call would, whatever
// the model prefers.
#pragma once

#include <string>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "collectives/mptune/timed_candidate.hpp"
#include "collectives/selection/chooser.hpp"

namespace poe::collectives {

// The shape that mptune measures: reductions add doubles, root 0, shift by 1 around the end.
Shape usual_shape(Operation operation, std::uint32_t n, Bytes bytes);

// All members of the group call it. Each candidate runs for about `budget` microseconds, three
// times at least; those that are taken and those that look fastest then five times more in turns.
// Those that do the same, as many do with few ranks, are timed as one. Blocking. Throws Error.
std::vector<TimedCandidate> time_candidates(CollectiveContext& library, Group& group,
                                            const Shape& shape, double budget);

}  // namespace poe::collectives
