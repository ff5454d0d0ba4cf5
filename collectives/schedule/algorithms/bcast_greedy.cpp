// Broadcast along the lambda tree by the greedy construction (paper 1, 2.3): whoever has the
// message first and is free sends it to the next rank that has not. Two queues, both sorted by
// themselves: ranks that have sent and are free again one unit later, and new ones, free when the
// message has come. Reaches T_lambda(n), the earliest time at all. Building the tree costs O(n)
// time and memory, once for all ranks. C3 = m (n - 1).
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

// By order of being reached, counted from the root.
struct GreedyTree {
    std::vector<std::uint32_t> parent;
    std::vector<std::int32_t> round;         // how many sends of the parent came before
    std::vector<std::uint32_t> first_child;  // 0: none, as the root is nobody's child
    std::vector<std::uint32_t> next_sibling;
};

std::shared_ptr<const GreedyTree> build(std::uint32_t n, Lambda lambda) {
    auto tree = std::make_shared<GreedyTree>();
    tree->parent.resize(n);
    tree->round.resize(n);
    tree->first_child.resize(n);
    tree->next_sibling.resize(n);
    struct Entry {
        std::uint32_t member = 0;
        std::int64_t time = 0;
        std::int32_t sends = 0;
        std::uint32_t last_child = 0;
    };
    std::vector<Entry> old_ones;
    std::vector<Entry> new_ones{{}};
    std::size_t old_head = 0;
    std::size_t new_head = 0;
    for (std::uint32_t size = 1; size < n; ++size) {
        const bool take_new =
            old_head == old_ones.size() ||
            (new_head < new_ones.size() && new_ones[new_head].time < old_ones[old_head].time);
        Entry sender = take_new ? new_ones[new_head++] : old_ones[old_head++];
        new_ones.push_back({size, sender.time + lambda.latency, 0, 0});
        tree->parent[size] = sender.member;
        tree->round[size] = sender.sends++;
        auto& link = sender.last_child == 0 ? tree->first_child[sender.member]
                                            : tree->next_sibling[sender.last_child];
        link = size;
        sender.last_child = size;
        sender.time += lambda.unit;
        old_ones.push_back(sender);
    }
    // Rounds count from the root: a rank's first send comes after the round it was reached in.
    for (std::uint32_t member = 1; member < n; ++member) {
        const std::uint32_t parent = tree->parent[member];
        if (parent != 0) tree->round[member] += tree->round[parent] + 1;
    }
    return tree;
}

}  // namespace

Generator bcast_greedy(const Shape& shape, Lambda lambda) {
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root), bytes = shape.bytes,
            tree = build(shape.n, lambda)](Rank rank, Schedule& into) {
        const std::uint32_t member = (static_cast<std::uint32_t>(rank) + n - root) % n;
        const auto rank_of = [&](std::uint32_t other) {
            return static_cast<Rank>((other + root) % n);
        };
        const Place data{Buffer::kOutput, 0};
        if (member != 0) {
            into.receive(rank_of(tree->parent[member]), data, bytes, tree->round[member]);
            into.wait();
        }
        for (std::uint32_t child = tree->first_child[member]; child != 0;
             child = tree->next_sibling[child]) {
            into.send(rank_of(child), data, bytes, tree->round[child]);
        }
        into.wait();
    };
}

}  // namespace poe::collectives
