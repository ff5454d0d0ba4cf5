// Concat along a circulant graph with offsets 1, 2, 4, .. (CCL paper, IV.C). In step j, each rank
// sends the blocks that it has gathered so far to the rank 2^j before it: 2^j blocks, or in the
// last step only those that are missing. C1 = ceil(log n), C2 = m (n - 1), C3 = m n (n - 1), all
// optimal. Blocks are gathered from the own one on, and copied to their places at the end.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_circulant(const Shape& shape) {
    return [shape](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        const auto own = static_cast<std::uint32_t>(rank);
        const Place out{Buffer::kOutput, 0};
        const Bytes all = shape.span(0, n);
        const Bytes behind = all - shape.offset(own) + shape.offset(0);  // blocks own .. n - 1
        // Rank 0 gathers in place.
        const Place gathered = own == 0 ? out : into.work(all);
        into.copy({Buffer::kInput, 0}, gathered, shape.length(own));
        int round = 0;
        for (std::uint32_t have = 1; have < n; have *= 2, ++round) {
            const std::uint32_t more = std::min(have, n - have);
            const std::uint32_t from = (own + have) % n;
            into.receive(static_cast<Rank>(from), gathered + shape.span(own, have),
                         shape.span(from, more), round);
            into.send(static_cast<Rank>((own + n - have) % n), gathered, shape.span(own, more),
                      round);
            into.wait();
        }
        if (own == 0) return;
        into.copy(gathered, out + shape.offset(own), behind);
        into.copy(gathered + behind, out, all - behind);
    };
}

Counts concat_circulant_counts(const Shape& shape) {
    const std::uint64_t others = shape.n - 1;
    return {static_cast<std::uint64_t>(log2_up(shape.n)), others * shape.bytes,
            shape.n * others * shape.bytes};
}

}  // namespace poe::collectives
