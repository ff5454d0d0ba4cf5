// Concat along a ring: C1 = n - 1, C2 = m (n - 1), C3 = m n (n - 1). Every rank exchanges messages
// with its two neighbours only, and every block is received in its place. For long blocks.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_ring(const Shape& shape) {
    const BytesOf bytes = [shape](std::uint32_t first, std::uint32_t count) {
        return shape.span(first, count);
    };
    return [shape, bytes, filled = Filled(shape.n, bytes)](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const Place out{Buffer::kOutput, 0};
        into.copy({Buffer::kInput, 0}, out + shape.offset(own), shape.length(own));
        ring_concat(into, {shape.n}, own, bytes, filled,
                    [&](std::uint32_t member) { return out + shape.offset(member); });
    };
}

Counts concat_ring_counts(const Shape& shape) {
    const std::uint64_t others = shape.n - 1;
    return {others, others * shape.bytes, shape.n * others * shape.bytes};
}

}  // namespace poe::collectives
