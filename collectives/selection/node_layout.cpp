// Groups ranks by node; see node_layout.hpp.
#include "collectives/selection/node_layout.hpp"

#include <algorithm>

namespace poe::collectives {

NodeLayout::NodeLayout(const Shape& shape, Leaders leaders) {
    members.resize(1 + *std::max_element(shape.nodes.begin(), shape.nodes.end()));
    leading.resize(members.size());
    member.resize(shape.n);
    const bool rooted =
        leaders == Leaders::kRoots &&
        (shape.operation == Operation::kBcast || shape.operation == Operation::kReduce ||
         shape.operation == Operation::kScatter || shape.operation == Operation::kGather);
    for (std::uint32_t rank = 0; rank < shape.n; ++rank) {
        const std::uint32_t node = shape.nodes[rank];
        if (rank > 0 && node < shape.nodes[rank - 1]) in_order = false;
        member[rank] = size(node);
        if (rooted && static_cast<Rank>(rank) == shape.root) leading[node] = size(node);
        members[node].push_back(static_cast<Rank>(rank));
    }
}

std::uint32_t NodeLayout::largest() const noexcept {
    std::size_t most = 0;
    for (const auto& each : members) most = std::max(most, each.size());
    return static_cast<std::uint32_t>(most);
}

}  // namespace poe::collectives
