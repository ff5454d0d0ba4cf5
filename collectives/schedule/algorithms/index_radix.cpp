// Index with the distances between ranks written in radix r (CCL paper, IV.B; Bruck et al. 1993). A
// block that has to travel the distance d is sent by z r^x for each digit z at place x of d,
// together with all other blocks that have this digit there. The messages for k different digits of
// a place are sent in one round if a rank has k ports. With m = n blocks and one port:
//
//   C1    the number of pairs (x, z > 0) with z r^x < n; (r - 1) log_r n for powers of r
//   C2    the blocks with digit z at place x, summed over all (x, z); m (r - 1) log_r n / r for
//         powers of r
//   C3    n C2
//
// Radix 2 sends the fewest messages, radix n the least data. With k ports, C1 = ceil((r - 1) / k)
// log_r n for powers of r. Radix k + 1 needs the fewest rounds, log n to the base k + 1.
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

// The digits at this place are 1 .. the result - 1, and 0.
std::uint32_t end_of_digits(std::uint32_t n, std::uint32_t radix, std::uint64_t weight) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(radix, (n + weight - 1) / weight));
}

}  // namespace

Generator index_radix(const Shape& shape, std::uint32_t radix, std::uint32_t ports) {
    return [n = shape.n, bytes = shape.bytes, radix, ports](Rank rank, Schedule& into) {
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
            const std::uint32_t end = end_of_digits(n, radix, weight);
            for (std::uint32_t first_digit = 1; first_digit < end; ++round) {
                const std::uint32_t after = end - first_digit > ports ? first_digit + ports : end;
                Bytes at = 0;
                for (std::uint32_t digit = first_digit; digit < after; ++digit) {
                    const auto distance = static_cast<std::uint32_t>(weight * digit);
                    const Bytes start = at;
                    each_run(n, radix, weight, digit,
                             [&](std::uint32_t first, std::uint32_t count) {
                                 into.copy(blocks + bytes * first, packed + at, bytes * count);
                                 at += bytes * count;
                             });
                    into.receive(static_cast<Rank>((own + n - distance) % n), received + start,
                                 at - start, round);
                    into.send(static_cast<Rank>((own + distance) % n), packed + start, at - start,
                              round);
                }
                into.wait();
                at = 0;
                for (std::uint32_t digit = first_digit; digit < after; ++digit) {
                    each_run(n, radix, weight, digit,
                             [&](std::uint32_t first, std::uint32_t count) {
                                 into.copy(received + at, blocks + bytes * first, bytes * count);
                                 at += bytes * count;
                             });
                }
                first_digit = after;
            }
        }
        // A block that travelled the distance d came from the rank d before.
        for (std::uint32_t d = 0; d < n; ++d)
            into.copy(blocks + bytes * d, out + bytes * ((own + n - d) % n), bytes);
    };
}

Counts index_radix_counts(const Shape& shape, std::uint32_t radix, std::uint32_t ports) {
    Counts counts;
    for (std::uint64_t weight = 1; weight < shape.n; weight *= radix) {
        const std::uint32_t end = end_of_digits(shape.n, radix, weight);
        for (std::uint64_t digit = 1; digit < end; ++digit) {
            // Whole runs, and the rest of the last one.
            const std::uint64_t period = weight * radix;
            const std::uint64_t rest = shape.n % period;
            const std::uint64_t blocks =
                shape.n / period * weight +
                (rest > weight * digit ? std::min(weight, rest - weight * digit) : 0);
            counts.c3 += blocks * shape.bytes * shape.n;
            // The first message of a round is the longest.
            if ((digit - 1) % ports != 0) continue;
            ++counts.c1;
            counts.c2 += blocks * shape.bytes;
        }
    }
    return counts;
}

}  // namespace poe::collectives
