// Scatter and gather along a tree of splits: the blocks of a subtree are sent together. C1 = depth
// of the tree, ceil(log n) if split in half; C2 = the largest subtree of each level, m (n - 1) if
// split in half; C3 = m times the sizes of all subtrees, about m n (log n) / 2 for half (CCL paper,
// IV.B). Blocks may be unequal; the formulas are for equal ones.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

// The place of the blocks of a rank's subtree: at the root, `whole` contains all blocks; a leaf has
// its own block in the user's buffer; other ranks use scratch memory.
PlaceOf places(const Shape& shape, const TreePlace& tree, Buffer whole, Place own, Schedule& into) {
    if (tree.is_root) {
        return [&shape, whole](std::uint32_t member) { return Place{whole, shape.offset(member)}; };
    }
    if (tree.children.empty()) return [own](std::uint32_t) { return own; };
    const std::uint32_t first = tree.parent.first;
    const Place start = into.work(shape.span(first, tree.parent.count));
    return [&shape, first, start](std::uint32_t member) {
        return start + (shape.offset(member) - shape.offset(first));
    };
}

}  // namespace

Generator scatter_tree(const Shape& shape, const SplitRule& split) {
    return [shape, split](Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        const auto root = static_cast<std::uint32_t>(shape.root);
        const Place out{Buffer::kOutput, 0};
        const TreePlace tree = place_in_tree(split, shape.n, root, member);
        const PlaceOf place = places(shape, tree, Buffer::kInput, out, into);
        tree_scatter(
            into, {shape.n}, root, member, split,
            [&](std::uint32_t first, std::uint32_t count) { return shape.span(first, count); },
            place);
        into.copy(place(member), out, shape.length(member));
    };
}

Generator gather_tree(const Shape& shape, const SplitRule& split) {
    return [shape, split](Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        const auto root = static_cast<std::uint32_t>(shape.root);
        const Place in{Buffer::kInput, 0};
        const TreePlace tree = place_in_tree(split, shape.n, root, member);
        const PlaceOf place = places(shape, tree, Buffer::kOutput, in, into);
        into.copy(in, place(member), shape.length(member));
        tree_gather(
            into, {shape.n}, root, member, split,
            [&](std::uint32_t first, std::uint32_t count) { return shape.span(first, count); },
            place);
    };
}

Counts scatter_tree_counts(const Shape& shape, const SplitRule& split) {
    const TreeDepth depth = tree_depth(split, shape.n);
    return {static_cast<std::uint64_t>(depth.rounds), depth.largest_subtrees * shape.bytes,
            depth.all_subtrees * shape.bytes};
}

}  // namespace poe::collectives
