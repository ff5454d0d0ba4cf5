// Broadcast as a scatter of parts along the binomial tree and a concat of the parts along a ring.
// C1 = ceil(log n) + n - 1, C2 = 2 m (n - 1) / n, C3 = m ((n - 1) + b(n) / n), where b(n) is the
// number of ones in the binary numbers below n (each part is sent once per level that it descends).
// For long messages, the time is less than twice the time of m bytes on the wire, for any number of
// ranks.
#include <bit>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator bcast_scatter_concat(const Shape& shape) {
    const Parts parts{shape.bytes, 1, shape.n};
    const BytesOf bytes = [parts](std::uint32_t first, std::uint32_t count) {
        return parts.length(first, count);
    };
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root), parts, bytes,
            filled = Filled(shape.n, bytes)](Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        const auto place = [&](std::uint32_t part) {
            return Place{Buffer::kOutput, parts.offset(part)};
        };
        tree_scatter(into, {n}, root, member, split_in_half(), bytes, place);
        into.start_phase(log2_up(n));
        // The root has all parts already.
        const std::uint32_t next = (member + 1) % n;
        const auto previous = static_cast<Rank>((member + n - 1) % n);
        for_ring_rounds(
            n, member, filled, [&](std::uint32_t round, std::uint32_t out, std::uint32_t in) {
                const auto number = static_cast<int>(round);
                if (member != root) into.receive(previous, place(in), bytes(in, 1), number);
                if (next != root)
                    into.send(static_cast<Rank>(next), place(out), bytes(out, 1), number);
                into.wait();
            });
    };
}

Counts bcast_scatter_concat_counts(const Shape& shape) {
    const Parts parts{shape.bytes, 1, shape.n};
    std::uint64_t ones = 0;
    for (std::uint64_t i = 0; i < shape.n; ++i)
        ones += static_cast<std::uint64_t>(std::popcount(i));
    const Bytes part = parts.largest(1);
    return {static_cast<std::uint64_t>(log2_up(shape.n)) + shape.n - 1,
            std::uint64_t{2} * (shape.n - 1) * part,
            ones * part + shape.bytes * (shape.n - 1) * (shape.n - 1) / shape.n};
}

}  // namespace poe::collectives
