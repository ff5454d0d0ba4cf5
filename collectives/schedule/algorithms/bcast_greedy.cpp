// Broadcast along the lambda tree by the greedy construction (postal paper, Bruck et al. 1996,
// 2.3): the rank that has the message and is free first sends it to the next rank without the
// message. Two queues are sorted by construction: ranks that have sent and are free again one unit
// later, and new ranks, which are free when the message has arrived. All ranks are reached at
// T_lambda(n), the earliest possible time. To build the tree costs O(n) time and memory, once for
// all ranks. C3 = m (n - 1).
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

// Members are in the order in which they are reached; 0 is the root.
struct GreedyTree {
    std::vector<std::uint32_t> parent;
    std::vector<std::int32_t> round;         // number of earlier sends of the parent
    std::vector<std::uint32_t> first_child;  // 0: none, because the root is not a child
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
    // Rounds count from the root: a rank's first send is in the round after that in which the rank
    // was reached.
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
