// The measured times of collective calls with each method that could be chosen for them. mptune
// compares them with the predictions of the model. Schedules are executed as in a call, whatever
// the model prefers.
#pragma once

#include <string>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "collectives/mptune/experiments.hpp"
#include "collectives/mptune/timed_candidate.hpp"
#include "collectives/selection/chooser.hpp"

namespace poe::collectives {

// The shape that mptune measures: reductions add doubles, the root is 0, shifts are by 1 around the
// end.
Shape usual_shape(Operation operation, std::uint32_t n, Bytes bytes);

// Measures all candidates; all members of the group call it. Each candidate runs for about `budget`
// microseconds, at least three times. The candidates that are taken and those that look fastest
// then run five more times, alternating. Candidates with equal schedules, which are frequent with
// few ranks, are timed as one. Blocks. Throws Error.
std::vector<TimedCandidate> time_candidates(CollectiveContext& library, Group& group,
                                            const Shape& shape, double budget);

// Measures these algorithms alone, in microseconds, each for about `budget`. All members of the
// group call it. Blocks. Throws Error. The times are valid at rank 0 only.
std::vector<double> time_choices(CollectiveContext& library, Group& group, const Shape& shape,
                                 const std::vector<Choice>& choices, double budget);

// Measures broadcasts of these lengths by multicast. All members of the group call it, and wait for
// the probe of the network. Empty: the group cannot multicast. Blocks. Throws Error. The times
// are valid at rank 0 only.
std::vector<MulticastMeasured> time_multicast(CollectiveContext& library, Group& group,
                                              const std::vector<Bytes>& lengths, double budget);

}  // namespace poe::collectives
