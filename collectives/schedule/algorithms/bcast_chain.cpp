// Broadcast in a pipeline along a chain of all ranks. For s segments, C1 = s + n - 2, C2 = the
// bytes of C1 segments, C3 = m (n - 1). Suitable for few ranks and long messages.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator bcast_chain(const Shape& shape, std::uint32_t segments) {
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root),
            cut = Segments(shape.bytes, segments, shape.element)](Rank rank, Schedule& into) {
        const std::uint32_t member = (static_cast<std::uint32_t>(rank) + n - root) % n;
        const auto next = static_cast<Rank>((static_cast<std::uint32_t>(rank) + 1) % n);
        const auto previous = static_cast<Rank>((static_cast<std::uint32_t>(rank) + n - 1) % n);
        // While a segment is received, the previous one is sent.
        for (std::uint32_t segment = 0; segment <= cut.count; ++segment) {
            if (segment < cut.count && member > 0) {
                into.receive(previous, {Buffer::kOutput, cut.offset(segment)}, cut.length(segment),
                             static_cast<int>(segment + member) - 1);
            }
            if (segment > 0 && member + 1 < n) {
                into.send(next, {Buffer::kOutput, cut.offset(segment - 1)}, cut.length(segment - 1),
                          static_cast<int>(segment + member) - 1);
            }
            into.wait();
        }
    };
}

Counts bcast_chain_counts(const Shape& shape, std::uint32_t segments) {
    if (shape.n == 1) return {};
    const Segments cut(shape.bytes, segments, shape.element);
    const std::uint64_t rounds = std::uint64_t{cut.count} + shape.n - 2;
    return {rounds, rounds * cut.size, (shape.n - 1) * shape.bytes};
}

}  // namespace poe::collectives
