// Operations in two levels: within each node, and between one leader of each node. Made of other
// schedules, which are embedded (embedding.hpp).
//
// There is none for shift. What has to go to another node is one message of each rank that has its
// partner there; ranks start theirs at once, and all of it goes through the node's cable however it
// is cut. To collect messages of one node for another at a leader first would save start-ups that
// nobody waits for, and cost rounds within both nodes.
#pragma once

#include <span>

#include "collectives/schedule/algorithm.hpp"

namespace poe::collectives {

// Whether there are nodes with several ranks, on more than one node, and two levels are right:
// where the order of ranks counts (prefix, reductions that are not commutative) each node's ranks
// must be next to each other.
bool two_level_fits(const Shape& shape);
// `table`: the algorithms that it may use between the leaders.
Generator two_level(const Shape& shape, std::span<const Algorithm> table);

// All, and the part of it that stays within nodes. Exact where nodes have equally many ranks and
// blocks are equal; C2 of the part within nodes is that of the largest node.
Counts two_level_counts(const Shape& shape, std::span<const Algorithm> table);
Counts two_level_within(const Shape& shape);

}  // namespace poe::collectives
