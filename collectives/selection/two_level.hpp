// Two-level algorithms: each operation has a part within each node, and a part among one leader per
// node. They consist of other schedules, which are embedded (embedding.hpp).
//
// There is none for shift. Between nodes, a shift sends one message for each rank that has its
// partner on another node. Ranks start these messages at once, and all bytes go through the node's
// cable, however they are divided. If a leader collected the messages of one node for another, it
// would save start-ups that no rank waits for, and would add rounds within both nodes.
#pragma once

#include <span>

#include "collectives/schedule/algorithm.hpp"

namespace poe::collectives {

// True if there are several nodes, at least one node has several ranks, and the order of ranks
// allows two levels: in a prefix, or a reduction that is not commutative, each node's ranks must be
// adjacent.
bool two_level_fits(const Shape& shape);
// Returns the generator. `table` contains the algorithms that may be used among the leaders.
Generator two_level(const Shape& shape, std::span<const Algorithm> table);

// The counts of the whole schedule, and of its part within nodes. They are exact if all nodes have
// equally many ranks and all blocks are equal. C2 of the part within nodes is that of the largest
// node.
Counts two_level_counts(const Shape& shape, std::span<const Algorithm> table);
Counts two_level_within(const Shape& shape);

}  // namespace poe::collectives
