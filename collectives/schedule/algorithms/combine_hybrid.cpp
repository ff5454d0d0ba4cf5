// The k-hybrid combine (CCL paper, IV.B): trees within groups of 2^k ranks, and a butterfly among
// the groups. For n a power of two, C1 = log n + k, C3 = m (n / 2^k) (log n + 2^(k+1) - k - 2). k =
// 0 is the butterfly: C1 = log n, C3 = m n log n. k = log n is a tree in and a tree out: C1 = 2 log
// n, C3 = 2 m (n - 1). For other n, the last group is smaller, and the butterfly folds the groups
// beyond a power of two into their neighbours, with two more rounds.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

std::uint32_t group_size(std::uint32_t n, int k) {
    return k >= log2_up(n) ? n : 1u << k;
}

}  // namespace

Generator combine_hybrid(const Shape& shape, int k) {
    return [n = shape.n, bytes = shape.bytes, size = group_size(shape.n, k)](Rank rank,
                                                                             Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const std::uint32_t group = own / size;
        const Members members{std::min(size, n - group * size), group * size};
        const Members leaders{(n + size - 1) / size, 0, size};
        const std::uint32_t member = own - members.first;
        const Place data{Buffer::kOutput, 0};
        const Place received = into.work(bytes);
        const SplitRule half = split_in_half();
        const int depth = log2_up(size);
        into.copy({Buffer::kInput, 0}, data, bytes);
        into.start_phase(depth - log2_up(members.count));
        fan_in(into, members, 0, member, half, data, received, bytes);
        into.start_phase(depth);
        if (member == 0) butterfly(into, leaders, group, data, received, bytes);
        into.start_phase(depth + static_cast<int>(butterfly_counts(leaders.count, 1).c1));
        fan_out(into, members, 0, member, half, data, bytes);
    };
}

Counts combine_hybrid_counts(const Shape& shape, int k) {
    const std::uint32_t size = group_size(shape.n, k);
    const std::uint32_t groups = (shape.n + size - 1) / size;
    const auto depth = static_cast<std::uint64_t>(log2_up(size));
    return Counts{2 * depth, 2 * depth * shape.bytes, Bytes{2} * (shape.n - groups) * shape.bytes} +
           butterfly_counts(groups, shape.bytes);
}

}  // namespace poe::collectives
