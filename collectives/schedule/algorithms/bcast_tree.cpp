// Broadcast along a tree of splits. The binomial tree and the lambda trees are the same algorithm
// with different splits (postal paper, Bruck et al. 1996, 2.4: split S into a part with the source
// and a part with a new leader, send to the leader, and continue with both parts). C1 = depth of
// the tree, ceil(log n) if split in half; C2 = m C1; C3 = m (n - 1). In the postal model the last
// rank is reached at tree_time().
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator bcast_tree(const Shape& shape, const SplitRule& split) {
    return [n = shape.n, root = shape.root, bytes = shape.bytes, split](Rank rank, Schedule& into) {
        fan_out(into, {n}, static_cast<std::uint32_t>(root), static_cast<std::uint32_t>(rank),
                split, {Buffer::kOutput, 0}, bytes);
    };
}

Counts bcast_tree_counts(const Shape& shape, const SplitRule& split) {
    const auto rounds = static_cast<std::uint64_t>(tree_depth(split, shape.n).rounds);
    return {rounds, rounds * shape.bytes, (shape.n - 1) * shape.bytes};
}

}  // namespace poe::collectives
