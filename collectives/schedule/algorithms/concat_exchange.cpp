// Concat by recursive exchange on a hypercube, for n a power of two (CCL paper, IV.D): in step j,
// each rank exchanges the 2^j blocks that it has with its neighbour in dimension j. C1 = log n, C2
// = m (n - 1), C3 = m n (n - 1), as for the circulant concat, but every block is received in its
// place.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_exchange(const Shape& shape) {
    return [shape](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const Place out{Buffer::kOutput, 0};
        into.copy({Buffer::kInput, 0}, out + shape.offset(own), shape.length(own));
        int round = 0;
        for (std::uint32_t have = 1; have < shape.n; have *= 2, ++round) {
            const std::uint32_t mine = own & ~(have - 1);
            const std::uint32_t theirs = mine ^ have;
            const auto partner = static_cast<Rank>(own ^ have);
            into.receive(partner, out + shape.offset(theirs), shape.span(theirs, have), round);
            into.send(partner, out + shape.offset(mine), shape.span(mine, have), round);
            into.wait();
        }
    };
}

Counts concat_exchange_counts(const Shape& shape) {
    return concat_circulant_counts(shape, 1);
}

}  // namespace poe::collectives
