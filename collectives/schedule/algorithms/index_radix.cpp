// Index with the distances between ranks written in radix r (CCL paper, IV.B; Bruck et al. 1993). A
// block that has to travel the distance d is sent by z r^x for each digit z at place x of d,
// together with all other blocks that have this digit there. With m = n blocks:
//
//   C1    the number of pairs (x, z > 0) with z r^x < n; (r - 1) log_r n for powers of r
//   C2    the blocks with digit z at place x, summed over all (x, z); m (r - 1) log_r n / r for
//         powers of r
//   C3    n C2
//
// Radix 2 sends the fewest messages, radix n the least data.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

// Calls run() for the distances below n that have digit z at the place of weight w: runs of
// adjacent distances.
template <typename Run>
void each_run(std::uint32_t n, std::uint32_t radix, std::uint64_t weight, std::uint32_t digit,
              Run&& run) {
    for (std::uint64_t first = weight * digit; first < n; first += weight * radix)
        run(static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(std::min<std::uint64_t>(weight, n - first)));
}

}  // namespace

Generator index_radix(const Shape& shape, std::uint32_t radix) {
    return [n = shape.n, bytes = shape.bytes, radix](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const Place in{Buffer::kInput, 0};
        const Place out{Buffer::kOutput, 0};
        // The blocks, ordered by the distance that they have to travel.
        const Place blocks = into.work(bytes * n);
        const Place packed = into.work(bytes * n);
        const Place received = into.work(bytes * n);
        into.copy(in + bytes * own, blocks, bytes * (n - own));
        into.copy(in, blocks + bytes * (n - own), bytes * own);
        int round = 0;
        for (std::uint64_t weight = 1; weight < n; weight *= radix) {
            for (std::uint32_t digit = 1; digit < radix && weight * digit < n; ++digit, ++round) {
                const auto distance = static_cast<std::uint32_t>(weight * digit);
                Bytes length = 0;
                each_run(n, radix, weight, digit, [&](std::uint32_t first, std::uint32_t count) {
                    into.copy(blocks + bytes * first, packed + length, bytes * count);
                    length += bytes * count;
                });
                into.receive(static_cast<Rank>((own + n - distance) % n), received, length, round);
                into.send(static_cast<Rank>((own + distance) % n), packed, length, round);
                into.wait();
                length = 0;
                each_run(n, radix, weight, digit, [&](std::uint32_t first, std::uint32_t count) {
                    into.copy(received + length, blocks + bytes * first, bytes * count);
                    length += bytes * count;
                });
            }
        }
        // A block that travelled the distance d came from the rank d before.
        for (std::uint32_t d = 0; d < n; ++d)
            into.copy(blocks + bytes * d, out + bytes * ((own + n - d) % n), bytes);
    };
}

Counts index_radix_counts(const Shape& shape, std::uint32_t radix) {
    Counts counts;
    for (std::uint64_t weight = 1; weight < shape.n; weight *= radix) {
        for (std::uint64_t digit = 1; digit < radix && weight * digit < shape.n; ++digit) {
            // Whole runs, and the rest of the last one.
            const std::uint64_t period = weight * radix;
            const std::uint64_t rest = shape.n % period;
            const std::uint64_t blocks =
                shape.n / period * weight +
                (rest > weight * digit ? std::min(weight, rest - weight * digit) : 0);
            ++counts.c1;
            counts.c2 += blocks * shape.bytes;
        }
    }
    counts.c3 = counts.c2 * shape.n;
    return counts;
}

}  // namespace poe::collectives
