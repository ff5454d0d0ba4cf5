// Prefix by trees within groups of adjacent ranks and doubling among the groups (CCL paper, IV.B:
// the trade-off between C1 and C3), in three steps:
//   1. Up the trees go the sums of intervals. Each member keeps the sums of the ranks between
//      itself and its next subtree.
//   2. By doubling, the leader of each group gets the sum of all ranks before its group.
//   3. Down the trees goes the sum of the ranks before each subtree.
// With g groups of at most s ranks: C1 = 2 ceil(log s) + ceil(log g), C2 = m C1, C3 = m (2 (n - g)
// + the sum of g - 2^j over the rounds of doubling). The hybrid has groups of 2^k. k = 0 is
// doubling alone, the butterfly for any n; k >= log n is one tree. Groups may be unequal: in two
// levels they are the nodes.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

std::vector<std::uint32_t> groups_of(std::uint32_t n, int k) {
    const std::uint32_t size = k >= log2_up(n) ? n : 1u << k;
    std::vector<std::uint32_t> firsts;
    for (std::uint32_t first = 0; first < n; first += size) firsts.push_back(first);
    return firsts;
}

// The members of a group.
Members group_members(const std::vector<std::uint32_t>& firsts, std::size_t group,
                      std::uint32_t n) {
    const std::uint32_t end = group + 1 < firsts.size() ? firsts[group + 1] : n;
    return {end - firsts[group], firsts[group]};
}

int deepest(const std::vector<std::uint32_t>& firsts, std::uint32_t n) {
    std::uint32_t most = 1;
    for (std::size_t group = 0; group < firsts.size(); ++group)
        most = std::max(most, group_members(firsts, group, n).count);
    return log2_up(most);
}

// The leaders' step: after round j, `sum` is that of 2^j groups up to the own one, and `before`
// that of the same groups without the own one. Returns true if there are groups before this one.
bool doubling(Schedule& into, std::size_t group, const std::vector<std::uint32_t>& leaders,
              Place sum, Place before, Place received, Bytes bytes) {
    bool any = false;
    int round = 0;
    for (std::size_t distance = 1; distance < leaders.size(); distance *= 2, ++round) {
        const bool takes = group >= distance;
        const bool gives = group + distance < leaders.size();
        if (takes)
            into.receive(static_cast<Rank>(leaders[group - distance]), received, bytes, round);
        if (gives) into.send(static_cast<Rank>(leaders[group + distance]), sum, bytes, round);
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

Generator prefix_in_groups(const Shape& shape, std::vector<std::uint32_t> firsts) {
    const int depth = deepest(firsts, shape.n);
    return [n = shape.n, bytes = shape.bytes, depth, leaders = std::move(firsts)](Rank rank,
                                                                                  Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const auto behind = std::upper_bound(leaders.begin(), leaders.end(), own);
        const auto group = static_cast<std::size_t>(behind - leaders.begin()) - 1;
        const Members members = group_members(leaders, group, n);
        const std::uint32_t member = own - members.first;
        const TreePlace tree = place_in_tree(split_in_half(), members.count, 0, member);
        const int own_depth = log2_up(members.count);
        const Place in{Buffer::kInput, 0};
        const Place out{Buffer::kOutput, 0};
        const Place received = into.work(bytes);
        const Place before = into.work(bytes);
        // Up: sums[i] is the sum from this member up to its i-th nearest subtree, without that
        // subtree.
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
        } else if (leaders.size() > 1) {
            into.start_phase(depth);
            if (sum.buffer == Buffer::kInput) {
                sum = into.work(bytes);
                into.copy(in, sum, bytes);
            }
            any_before = doubling(into, group, leaders, sum, before, received, bytes);
        }
        // Down.
        into.start_phase(depth + log2_up(leaders.size()) + depth - own_depth);
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

Generator prefix_hybrid(const Shape& shape, int k) {
    return prefix_in_groups(shape, groups_of(shape.n, k));
}

Counts prefix_counts_within(const Shape& shape, const std::vector<std::uint32_t>& firsts) {
    const auto rounds = 2 * static_cast<std::uint64_t>(deepest(firsts, shape.n));
    return {rounds, rounds * shape.bytes, 2 * (shape.n - firsts.size()) * shape.bytes};
}

Counts prefix_counts_between(const Shape& shape, const std::vector<std::uint32_t>& firsts) {
    const std::size_t groups = firsts.size();
    std::uint64_t messages = 0;
    for (std::size_t distance = 1; distance < groups; distance *= 2) messages += groups - distance;
    const auto rounds = static_cast<std::uint64_t>(log2_up(groups));
    return {rounds, rounds * shape.bytes, messages * shape.bytes};
}

Counts prefix_hybrid_counts(const Shape& shape, int k) {
    const std::vector<std::uint32_t> firsts = groups_of(shape.n, k);
    return prefix_counts_within(shape, firsts) + prefix_counts_between(shape, firsts);
}

}  // namespace poe::collectives
