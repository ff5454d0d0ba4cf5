// Concat without rounds: each rank sends its block to all others, and all messages are started at
// once. C1 = n - 1, C2 = (n - 1) b, C3 = n (n - 1) b, as for the ring, but no message waits for
// another.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_direct(const Shape& shape) {
    const Filled filled(shape.n, [&](std::uint32_t first, std::uint32_t count) {
        return shape.span(first, count);
    });
    return [shape, filled](Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        const std::uint32_t n = shape.n;
        const Bytes own = shape.length(member);
        into.copy({Buffer::kInput, 0}, {Buffer::kOutput, shape.offset(member)}, own);
        for (std::uint32_t i = 1; i < n; ++i) {
            i += filled.below((member + n - i) % n);
            if (i >= n) break;
            const std::uint32_t from = (member + n - i) % n;
            into.receive(static_cast<Rank>(from), {Buffer::kOutput, shape.offset(from)},
                         shape.length(from), static_cast<int>(i) - 1);
        }
        for (std::uint32_t i = 1; i < n && own > 0; ++i)
            into.send(static_cast<Rank>((member + i) % n), {Buffer::kInput, 0}, own,
                      static_cast<int>(i) - 1);
        into.wait();
    };
}

Counts concat_direct_counts(const Shape& shape) {
    return concat_ring_counts(shape);
}

}  // namespace poe::collectives
