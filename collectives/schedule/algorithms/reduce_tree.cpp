// Reduction along a tree of splits, the broadcast reversed. C1 = depth of the tree, ceil(log n) if
// split in half; C2 = m C1; C3 = m (n - 1). In rank order for every root, because subtrees are
// intervals.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator reduce_tree(const Shape& shape, const SplitRule& split) {
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root), bytes = shape.bytes, split](
               Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        Place data{Buffer::kInput, 0};
        Place received{Buffer::kScratch, 0};
        const bool leaf = place_in_tree(split, n, root, member).children.empty();
        if (member == root) {
            data = {Buffer::kOutput, 0};
        } else if (!leaf) {
            data = into.work(bytes);
        }
        if (!leaf) received = into.work(bytes);
        into.copy({Buffer::kInput, 0}, data, bytes);
        fan_in(into, {n}, root, member, split, data, received, bytes);
    };
}

Counts reduce_tree_counts(const Shape& shape, const SplitRule& split) {
    return bcast_tree_counts(shape, split);
}

}  // namespace poe::collectives
