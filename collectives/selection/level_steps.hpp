// What a rank does in a two-level algorithm, as data: calls among the ranks of its node and among
// the leaders of all nodes, and copies between them. Every operation except prefix and shift has
// three parts:
//   1. within each node, a call that ends at the leader;
//   2. the operation itself among the leaders;
//   3. within each node, a call that begins at the leader.
// The steps are used twice. They become a schedule of messages (two_level.hpp), which is verified,
// counted and simulated. And they are executed as calls on groups (engine/hierarchical_calls.hpp),
// where the calls within a node use shared memory.
//
// Blocks are sent in the order of nodes. If that differs from rank order, leaders reorder them.
//
// Sync: the calls within nodes are a gather and a broadcast of 0 bytes, which only order events.
//
// Index: the leader of a node gets the blocks of all ranks of the node, and sends to each other
// leader all blocks for that leader's node. As many bytes go between nodes as without levels, in
// fewer messages.
#pragma once

#include <vector>

#include "collectives/selection/node_layout.hpp"

namespace poe::collectives {

struct LevelStep {
    enum class Kind : std::uint8_t {
        kCopy,
        kBefore,        // a call within the node
        kAmongLeaders,  // a call among the leaders, in the order of their nodes
        kAfter,         // a call within the node
    };
    Kind kind = Kind::kCopy;
    Place from;        // of a call: its input
    Place to;          // of a call: its result
    Bytes length = 0;  // of a copy
    Shape call;        // of a call; `nodes` is empty
};

// The steps of one rank, in order. They use `scratch` bytes of scratch memory.
struct LevelSteps {
    std::vector<LevelStep> steps;
    Bytes scratch = 0;
};

// The part of a two-level algorithm within each node, before or after the part among the leaders.
struct LevelPart {
    bool exists = false;
    Operation operation = Operation::kSync;
    Bytes bytes = 0;
    bool own_blocks = false;  // blocks have the lengths of the ranks' own blocks, if these differ
};
struct LevelParts {
    LevelPart before;
    LevelPart after;
};
LevelParts level_parts(const Shape& shape);
// The call of such a part on a node, and the call among the leaders. A leader's block contains the
// blocks of its whole node, so the leaders' blocks may be unequal.
Shape call_within(const Shape& shape, const NodeLayout& layout, const LevelPart& part,
                  std::uint32_t node);
Shape call_among_leaders(const Shape& shape, const NodeLayout& layout);

// Returns the steps of a rank. Preconditions: two_level_fits(shape), and the operation is not
// prefix.
LevelSteps level_steps(const Shape& shape, const NodeLayout& layout, Rank rank);

}  // namespace poe::collectives
