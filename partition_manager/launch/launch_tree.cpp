// The tree is a heap in an array with poe at place 0. The node at place p = node + 1 is below place
// (p - 1) / fanout.
#include "partition_manager/launch/launch_tree.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace poe::pm {

LaunchTree::LaunchTree(NodeIndex nodes, std::uint32_t fanout, NodeIndex home)
    : nodes_(nodes), fanout_(fanout), home_(home) {
    POE_CHECK(nodes > 0 && fanout > 0 && home >= -1 && home < nodes, nodes, fanout, home);
}

NodeIndex LaunchTree::above(NodeIndex node) const {
    if (node == home_) return kRoot;
    return static_cast<NodeIndex>(node / fanout_) - 1;
}

std::vector<NodeIndex> LaunchTree::below(NodeIndex node) const {
    std::vector<NodeIndex> found;
    if (node == kRoot && home_ >= 0) found.push_back(home_);
    const std::int64_t first = (std::int64_t{node} + 1) * fanout_;
    for (std::int64_t one = first; one < std::min(first + fanout_, nodes_); ++one)
        if (one != home_) found.push_back(static_cast<NodeIndex>(one));
    return found;
}

int LaunchTree::height(NodeIndex node) const {
    int deepest = 0;
    for (const NodeIndex one : below(node)) deepest = std::max(deepest, height(one));
    return deepest + 1;
}

}  // namespace poe::pm
