// The launch tree: which daemon starts which. `poe` is the root and starts `fanout` of them, each
// of these the same number, and so on, so that a thousand nodes cost three rounds at a fan-out
// of 16. The tree follows from three numbers, so nobody has to be told its part. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

class LaunchTree {
  public:
    // What is above the topmost nodes: poe.
    static constexpr NodeIndex kRoot = -1;

    // Preconditions: nodes > 0, fanout > 0, -1 <= home < nodes. The `home` node (-1: none) needs no
    // remote shell: it is always directly below poe.
    LaunchTree(NodeIndex nodes, std::uint32_t fanout, NodeIndex home);

    // The node above; kRoot for those that poe starts. Precondition: 0 <= node < nodes.
    NodeIndex above(NodeIndex node) const;
    // The nodes directly below, in order. Precondition: kRoot <= node < nodes.
    std::vector<NodeIndex> below(NodeIndex node) const;
    // Levels from this node down, itself included: 1 for one that starts no other.
    int height(NodeIndex node) const;

  private:
    std::int64_t nodes_;
    std::int64_t fanout_;
    NodeIndex home_;
};

}  // namespace poe::pm
