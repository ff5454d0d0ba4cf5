// Sync. Dissemination (Hensgen, Finkel, Manber 1988) goes along the circulant graph: in round k, a
// rank sends a signal to the rank 2^k after it and receives one from the rank 2^k before it. C1 =
// ceil(log n), n ceil(log n) signals. The tree collects the signals and sends them out: C1 = 2
// ceil(log n), 2 (n - 1) signals.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator sync_dissemination(const Shape& shape) {
    return [n = shape.n](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        int round = 0;
        for (std::uint32_t distance = 1; distance < n; distance *= 2, ++round) {
            into.await_signal(static_cast<Rank>((own + n - distance) % n), round);
            into.signal(static_cast<Rank>((own + distance) % n), round);
            into.wait();
        }
    };
}

Counts sync_dissemination_counts(const Shape& shape) {
    return {static_cast<std::uint64_t>(log2_up(shape.n)), 0, 0};
}

Generator sync_tree(const Shape& shape, const SplitRule& split) {
    return [n = shape.n, split](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        into.start_phase(sync_in(into, {n}, 0, own, split));
        sync_out(into, {n}, 0, own, split);
    };
}

Counts sync_tree_counts(const Shape& shape, const SplitRule& split) {
    return {2 * static_cast<std::uint64_t>(tree_depth(split, shape.n).rounds), 0, 0};
}

}  // namespace poe::collectives
