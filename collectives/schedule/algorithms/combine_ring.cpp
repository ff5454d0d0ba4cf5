// Combine as a reduce-scatter and a concat, both along a ring. C1 = 2 (n - 1), C2 = 2 m (n - 1) /
// n, which is optimal, C3 = 2 m (n - 1). Part i goes around from rank i + 1 to rank i, so
// contributions are in rank order only up to the start of the circle. Therefore for commutative
// functions only; also requires that the vector may be cut.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator combine_ring(const Shape& shape) {
    const Parts parts{shape.bytes, shape.element, shape.n};
    const BytesOf bytes = [parts](std::uint32_t first, std::uint32_t count) {
        return parts.length(first, count);
    };
    return [n = shape.n, parts, bytes, filled = Filled(shape.n, bytes)](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const auto next = static_cast<Rank>((own + 1) % n);
        const auto previous = static_cast<Rank>((own + n - 1) % n);
        const Place data{Buffer::kOutput, 0};
        const Place received = into.work(parts.largest(1));
        into.copy({Buffer::kInput, 0}, data, parts.bytes);
        for_ring_rounds(n, (own + n - 1) % n, filled,
                        [&](std::uint32_t round, std::uint32_t out, std::uint32_t in) {
                            const auto number = static_cast<int>(round);
                            into.receive(previous, received, bytes(in, 1), number);
                            into.send(next, data + parts.offset(out), bytes(out, 1), number);
                            into.wait();
                            into.prepend(received, data + parts.offset(in), bytes(in, 1));
                        });
        into.start_phase(static_cast<int>(n) - 1);
        ring_concat(into, {n}, own, bytes, filled,
                    [&](std::uint32_t part) { return data + parts.offset(part); });
    };
}

Counts combine_ring_counts(const Shape& shape) {
    const Parts parts{shape.bytes, shape.element, shape.n};
    const std::uint64_t rounds = 2 * (std::uint64_t{shape.n} - 1);
    return {rounds, rounds * parts.largest(1), rounds * shape.bytes};
}

}  // namespace poe::collectives
