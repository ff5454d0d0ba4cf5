// Two-level algorithms as schedules of messages: each call of their steps (level_steps.hpp) is
// replaced by its schedule, which is embedded (embedding.hpp). The algorithm among the leaders is
// chosen by the built-in model of a network, because all leaders must choose the same one. Within a
// node, trees that split in half are used.
//
// With N nodes of t ranks each, C1 is that of N leaders, plus ceil(log t) for each of the two parts
// within nodes. A prefix uses trees and doubling (prefix_hybrid.cpp), with a node as each group.
//
// There is no two-level shift. Between nodes, a shift sends one message for each rank that has its
// partner on another node. Ranks start these messages at once, and all bytes go through the node's
// cable, however they are divided. If a leader collected the messages of one node for another, it
// would save start-ups that no rank waits for, and would add rounds within both nodes.
#pragma once

#include <span>

#include "collectives/schedule/algorithm.hpp"
#include "collectives/selection/node_layout.hpp"

namespace poe::collectives {

// True if there are several nodes, at least one node has several ranks, and the order of ranks
// allows two levels: in a prefix, or a reduction that is not commutative, each node's ranks must be
// adjacent.
bool two_level_fits(const Shape& shape);
// Returns the generator. `table` contains the algorithms that may be used among the leaders.
// kFirsts supports only broadcast and operations without a root.
Generator two_level(const Shape& shape, std::span<const Algorithm> table,
                    Leaders leaders = Leaders::kRoots);

// The counts of the whole schedule, and of its part within nodes. They are exact if all nodes have
// equally many ranks and all blocks are equal. C2 of the part within nodes is that of the largest
// node.
Counts two_level_counts(const Shape& shape, std::span<const Algorithm> table);
Counts two_level_within(const Shape& shape);

}  // namespace poe::collectives
