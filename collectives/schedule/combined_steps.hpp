// The steps of an index whose blocks travel in combined messages: each block goes to its
// destination through other ranks, which send it on together with the blocks of others that have
// the same way. A rank then sends few messages, which pays for short blocks. Pure: all ranks
// compute the same steps.
//
// The distance of a block is that from its source to its destination. It has two parts if all nodes
// have the same number of ranks: from place to place within a node, and from node to node. The
// first step of a block goes to the rank on its own node that has the destination's place. The
// following ones go from node to node; there the distance is written in a radix, and each step
// moves one digit, as in algorithms/index_radix.cpp (Bruck et al. 1993). Each rank has one block of
// each distance at any time, so a distance also names the block's slot at a rank. The lengths do
// not matter, so a rank need not know those of other ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace poe::collectives {

// The ranks by node and by place within the node. If the nodes have different numbers of ranks,
// each rank counts as a node.
class CombinedLayout {
  public:
    CombinedLayout() = default;
    // `nodes`: the node of each rank, counted from 0; empty: each rank counts as a node.
    CombinedLayout(std::uint32_t n, const std::vector<std::uint32_t>& nodes);

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }
    std::uint32_t per_node() const noexcept { return per_node_; }
    std::uint32_t nodes() const noexcept { return nodes_; }
    // A distance is (distance within a node) * nodes() + (distance between nodes).
    // The rank at this distance after or before `rank`. Preconditions: both are below size().
    std::uint32_t after(std::uint32_t rank, std::uint32_t distance) const noexcept;
    std::uint32_t before(std::uint32_t rank, std::uint32_t distance) const noexcept;

  private:
    std::uint32_t per_node_ = 1;
    std::uint32_t nodes_ = 0;
    std::vector<std::uint32_t> ranks_;   // by place * nodes_ + node
    std::vector<std::uint32_t> places_;  // the reverse, by rank
};

// In a step, each rank sends a message to the rank at `distance` after it, and receives one from
// the rank at `distance` before it. Both have the blocks of the same slots, in this order.
struct CombinedStep {
    std::uint32_t round = 0;  // steps of one round take place at the same time
    std::uint32_t distance = 0;
    std::vector<std::uint32_t> slots;
};

// The steps of all ranks, by round. Preconditions: radix >= 2. No two steps have the same distance.
std::vector<CombinedStep> combined_steps(const CombinedLayout& layout, std::uint32_t radix);

}  // namespace poe::collectives
