// Concat along a circulant graph for k ports (CCL paper, IV.C; for several ports Bruck et al.,
// 1997, "Efficient algorithms for all-to-all communications in multiport message-passing systems").
// With one port the offsets are 1, 2, 4, .. In each round a rank that has gathered h blocks gets up
// to k h further ones: from each of k ranks after it the first h blocks that this one has gathered.
// In the last round the missing blocks are distributed evenly over the ports. C1 = ceil(log n) to
// the base k + 1, C2 = m ceil((n - 1) / k), C3 = m n (n - 1), all optimal. Blocks are gathered from
// the own one on, and copied to their places at the end.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_circulant(const Shape& shape, std::uint32_t ports) {
    return [shape, ports](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        const auto own = static_cast<std::uint32_t>(rank);
        const Place out{Buffer::kOutput, 0};
        const Bytes all = shape.span(0, n);
        const Bytes behind = all - shape.offset(own) + shape.offset(0);  // blocks own .. n - 1
        // Rank 0 gathers in place.
        const Place gathered = own == 0 ? out : into.work(all);
        into.copy({Buffer::kInput, 0}, gathered, shape.length(own));
        int round = 0;
        for (std::uint32_t have = 1; have < n; ++round) {
            const auto end =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(n, have * (ports + 1ull)));
            const std::uint32_t of_a_port = (end - have + ports - 1) / ports;
            for (std::uint32_t at = have; at < end; at += of_a_port) {
                const std::uint32_t more = std::min(of_a_port, end - at);
                const std::uint32_t from = (own + at) % n;
                into.receive(static_cast<Rank>(from), gathered + shape.span(own, at),
                             shape.span(from, more), round);
                into.send(static_cast<Rank>((own + n - at) % n), gathered, shape.span(own, more),
                          round);
            }
            into.wait();
            have = end;
        }
        if (own == 0) return;
        into.copy(gathered, out + shape.offset(own), behind);
        into.copy(gathered + behind, out, all - behind);
    };
}

Counts concat_circulant_counts(const Shape& shape, std::uint32_t ports) {
    const std::uint64_t others = shape.n - 1;
    std::uint64_t rounds = 0;
    for (std::uint64_t have = 1; have < shape.n; have *= ports + 1ull) ++rounds;
    return {rounds, (others + ports - 1) / ports * shape.bytes, shape.n * others * shape.bytes};
}

}  // namespace poe::collectives
