// Combine as a reduce-scatter by halving and a concat by doubling. With d = floor(log n) and p =
// 2^d: C1 = 2 d, C2 = 2 m (p - 1) / p; if n > p, two more rounds of m bytes, one before and one
// after. C3 = 2 m (p - 1) + 2 m (n - p). Requires that the vector may be cut.
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/halving.hpp"

namespace poe::collectives {

Generator combine_halving(const Shape& shape) {
    return [folded = Folded(shape.n),
            parts = Parts{shape.bytes, shape.element, 1u << log2_down(shape.n)}](Rank rank,
                                                                                 Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const Place data{Buffer::kOutput, 0};
        into.copy({Buffer::kInput, 0}, data, parts.bytes);
        halve(into, folded, own, parts, data, into.work(parts.bytes));
        const int log = log2_down(folded.inside);
        const int last = folded.first_round() + 2 * log;
        if (folded.outside(own)) {
            into.receive(rank - 1, data, parts.bytes, last);
            into.wait();
            return;
        }
        const std::uint32_t member = folded.member(own);
        for (int bit = log - 1; bit >= 0; --bit) {
            const std::uint32_t other = member ^ (1u << bit);
            const Interval mine = held(folded.inside, member, bit + 1);
            const Interval theirs = held(folded.inside, other, bit + 1);
            const int round = last - 1 - bit;
            into.receive(folded.rank(other), data + parts.offset(theirs.first),
                         parts.length(theirs.first, theirs.count), round);
            into.send(folded.rank(other), data + parts.offset(mine.first),
                      parts.length(mine.first, mine.count), round);
            into.wait();
        }
        if (own < 2 * folded.extra) {
            into.send(rank + 1, data, parts.bytes, last);
            into.wait();
        }
    };
}

Counts combine_halving_counts(const Shape& shape) {
    const Folded folded(shape.n);
    const Parts parts{shape.bytes, shape.element, folded.inside};
    Counts counts;
    for (std::uint32_t held = folded.inside / 2; held > 0; held /= 2) {
        counts.c1 += 2;
        counts.c2 += 2 * parts.largest(held);
        counts.c3 += folded.inside * shape.bytes / folded.inside * held * 2;
    }
    if (folded.extra > 0)
        counts = counts + Counts{2, 2 * shape.bytes, Bytes{2} * folded.extra * shape.bytes};
    return counts;
}

}  // namespace poe::collectives
