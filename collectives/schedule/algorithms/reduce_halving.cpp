// Reduction as a reduce-scatter by halving and a gather along the same pairs. C1 = 2 d, C2 = 2 m (p
// - 1) / p, C3 = m (p - 1) + m d / 2, with d = floor(log n) and p = 2^d. If n > p, there is one
// more round of m bytes before, and one after if the root is a rank that gave its data away.
// Requires that the vector may be cut.
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/halving.hpp"

namespace poe::collectives {

Generator reduce_halving(const Shape& shape) {
    return [folded = Folded(shape.n), root = shape.root,
            parts = Parts{shape.bytes, shape.element, 1u << log2_down(shape.n)}](Rank rank,
                                                                                 Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const bool root_outside = folded.outside(static_cast<std::uint32_t>(root));
        const bool outside = folded.outside(own);
        const int log = log2_down(folded.inside);
        const int last = folded.first_round() + 2 * log;
        Place data{Buffer::kOutput, 0};
        if (rank != root) data = outside ? Place{Buffer::kInput, 0} : into.work(parts.bytes);
        into.copy({Buffer::kInput, 0}, data, parts.bytes);
        halve(into, folded, own, parts, data, into.work(parts.bytes));
        if (!outside) {
            // In each pair, the member that is nearer to the root receives; the other one has
            // finished.
            const std::uint32_t member = folded.member(own);
            const std::uint32_t target = folded.member(static_cast<std::uint32_t>(root));
            for (int bit = log - 1; bit >= 0; --bit) {
                if ((member >> (bit + 1)) << (bit + 1) != (target >> (bit + 1)) << (bit + 1)) break;
                const std::uint32_t other = member ^ (1u << bit);
                const bool takes = (member >> bit & 1u) == (target >> bit & 1u);
                const Interval part = held(folded.inside, takes ? other : member, bit + 1);
                const Place place = data + parts.offset(part.first);
                const Bytes length = parts.length(part.first, part.count);
                const int round = last - 1 - bit;
                if (takes) {
                    into.receive(folded.rank(other), place, length, round);
                } else {
                    into.send(folded.rank(other), place, length, round);
                }
                into.wait();
                if (!takes) break;
            }
        }
        if (root_outside && rank == root - 1) into.send(root, data, parts.bytes, last);
        if (root_outside && rank == root) into.receive(root - 1, data, parts.bytes, last);
        into.wait();
    };
}

Counts reduce_halving_counts(const Shape& shape) {
    const Folded folded(shape.n);
    const Parts parts{shape.bytes, shape.element, folded.inside};
    Counts counts;
    for (std::uint32_t held = folded.inside / 2; held > 0; held /= 2) {
        counts.c1 += 2;
        counts.c2 += 2 * parts.largest(held);
        counts.c3 += shape.bytes * held;
    }
    // In each round of the gather, half of all parts are sent.
    counts.c3 += shape.bytes / 2 * static_cast<std::uint64_t>(log2_down(folded.inside));
    if (folded.extra > 0) counts = counts + Counts{1, shape.bytes, folded.extra * shape.bytes};
    if (folded.outside(static_cast<std::uint32_t>(shape.root)))
        counts = counts + Counts{1, shape.bytes, shape.bytes};
    return counts;
}

}  // namespace poe::collectives
