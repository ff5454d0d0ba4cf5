// Prefix by trees within groups of 2^k ranks and doubling among the groups (CCL paper, IV.B: the
// trade between C1 and C3). Up the trees go the sums of intervals, each member keeping the sums of
// what lies between it and its next subtree; the leaders of groups learn by doubling what comes
// before their group; down the trees goes what comes before each subtree. With g groups of s: C1 =
// 2 ceil(log s) + ceil(log g), C2 = m C1, C3 = m (2 (n - g) + the sum of g - 2^j over the rounds of
// doubling). k = 0 is doubling alone, the butterfly for any n; k >= log n is one tree.
#include <algorithm>

#include "collectives/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

std::uint32_t group_size(std::uint32_t n, int k) {
    return k >= log2_up(n) ? n : 1u << k;
}

// What the leaders of groups do: after round j `sum` has 2^j groups up to the own one, `before` all
// of those but the own one. Answers whether there is anything before.
bool doubling(Schedule& into, std::uint32_t group, const Members& leaders, Place sum, Place before,
              Place received, Bytes bytes) {
    bool any = false;
    int round = 0;
    for (std::uint32_t distance = 1; distance < leaders.count; distance *= 2, ++round) {
        const bool takes = group >= distance;
        const bool gives = group + distance < leaders.count;
        if (takes) into.receive(leaders.rank(group - distance), received, bytes, round);
        if (gives) into.send(leaders.rank(group + distance), sum, bytes, round);
        into.wait();
        if (!takes) continue;
        into.prepend(received, sum, bytes);
        if (any) {
            into.prepend(received, before, bytes);
        } else {
            into.copy(received, before, bytes);
        }
        any = true;
    }
    return any;
}

}  // namespace

Generator prefix_hybrid(const Shape& shape, int k) {
    return [n = shape.n, bytes = shape.bytes, size = group_size(shape.n, k)](Rank rank,
                                                                             Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const std::uint32_t group = own / size;
        const Members members{std::min(size, n - group * size), group * size};
        const Members leaders{(n + size - 1) / size, 0, size};
        const std::uint32_t member = own - members.first;
        const TreePlace tree = place_in_tree(split_in_half(), members.count, 0, member);
        const int depth = log2_up(size);
        const int own_depth = log2_up(members.count);
        const Place in{Buffer::kGiven, 0};
        const Place out{Buffer::kResult, 0};
        const Place received = into.work(bytes);
        const Place before = into.work(bytes);
        // Up: sums[i] is the sum from this member up to its i-th nearest subtree, without it.
        std::vector<Place> sums;
        Place sum = in;
        for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
            sums.push_back(sum);
            const Place next = into.work(bytes);
            into.copy(sum, next, bytes);
            into.receive(members.rank(child->member), received, bytes, depth - 1 - child->depth);
            into.wait();
            into.append(received, next, bytes);
            sum = next;
        }
        bool any_before = false;
        if (!tree.is_root) {
            const Rank parent = members.rank(tree.parent.member);
            into.send(parent, sum, bytes, depth - 1 - tree.parent.depth);
            into.wait();
        } else if (leaders.count > 1) {
            into.start_phase(depth);
            if (sum.buffer == Buffer::kGiven) {
                sum = into.work(bytes);
                into.copy(in, sum, bytes);
            }
            any_before = doubling(into, group, leaders, sum, before, received, bytes);
        }
        // Down.
        into.start_phase(depth + log2_up(leaders.count) + depth - own_depth);
        if (!tree.is_root) {
            into.receive(members.rank(tree.parent.member), before, bytes, tree.parent.depth);
            into.wait();
            any_before = true;
        }
        for (std::size_t i = 0; i < tree.children.size(); ++i) {
            const Branch& child = tree.children[i];
            const Place part = sums[sums.size() - 1 - i];
            Place all = part;
            if (any_before) {
                all = into.work(bytes);
                into.copy(part, all, bytes);
                into.prepend(before, all, bytes);
            }
            into.send(members.rank(child.member), all, bytes, child.depth);
        }
        into.copy(in, out, bytes);
        if (any_before) into.prepend(before, out, bytes);
        into.wait();
    };
}

Counts prefix_hybrid_counts(const Shape& shape, int k) {
    const std::uint32_t size = group_size(shape.n, k);
    const std::uint32_t groups = (shape.n + size - 1) / size;
    const auto depth = static_cast<std::uint64_t>(log2_up(size));
    std::uint64_t messages = 2 * (std::uint64_t{shape.n} - groups);
    for (std::uint32_t distance = 1; distance < groups; distance *= 2)
        messages += groups - distance;
    const std::uint64_t rounds = 2 * depth + static_cast<std::uint64_t>(log2_up(groups));
    return {rounds, rounds * shape.bytes, messages * shape.bytes};
}

}  // namespace poe::collectives
