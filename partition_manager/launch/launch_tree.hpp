// The launch tree: which daemon starts which. `poe` is the root and starts `fanout` daemons, each
// of these starts as many, and so on. With a fan-out of 16, a thousand nodes take three rounds. The
// tree follows from three numbers, so each process can compute its part. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

class LaunchTree {
  public:
    // The root, above the topmost nodes: poe.
    static constexpr NodeIndex kRoot = -1;

    // The `home` node (-1: none) needs no remote shell, so it is always directly below poe.
    // Preconditions: nodes > 0, fanout > 0, -1 <= home < nodes.
    LaunchTree(NodeIndex nodes, std::uint32_t fanout, NodeIndex home);

    // The node above; kRoot for nodes that poe starts. Precondition: 0 <= node < nodes.
    NodeIndex above(NodeIndex node) const;
    // The nodes directly below, in order. Precondition: kRoot <= node < nodes.
    std::vector<NodeIndex> below(NodeIndex node) const;
    // The number of levels from this node downwards, including itself: 1 for a node that starts no
    // other.
    int height(NodeIndex node) const;

  private:
    std::int64_t nodes_;
    std::int64_t fanout_;
    NodeIndex home_;
};

}  // namespace poe::pm
