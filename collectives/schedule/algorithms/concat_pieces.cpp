// Concat by sending every block directly to all other ranks, in pieces: in each round, a rank sends
// the next piece of its block to all. Two rounds are under way at once, so at most 2 (n - 1) pieces
// are on their way to a rank, whatever the length of the blocks (as in index_pieces.cpp). C1 = n -
// 1 for each piece of a block, C2 = m (n - 1) for blocks of m bytes.
#include <algorithm>

#include "base/check.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator concat_pieces(const Shape& shape, Bytes piece) {
    POE_CHECK(piece > 0);
    Bytes longest = 0;
    for (std::uint32_t r = 0; r < shape.n; ++r) longest = std::max(longest, shape.length(r));
    return [shape, piece, longest](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        const auto own = static_cast<std::uint32_t>(rank);
        into.copy({Buffer::kInput, 0}, {Buffer::kOutput, shape.offset(own)}, shape.length(own));
        for (Bytes at = 0; at < longest; at += piece) {
            const auto rest = [&](Bytes bytes) {
                return bytes > at ? std::min(bytes - at, piece) : 0;
            };
            const std::uint32_t previous = into.started();
            for (std::uint32_t step = 1; step < n; ++step) {
                const std::uint32_t from = (own + n - step) % n;
                const auto round = static_cast<int>(at / piece * (n - 1) + step) - 1;
                into.receive(static_cast<Rank>(from), {Buffer::kOutput, shape.offset(from) + at},
                             rest(shape.length(from)), round);
                into.send(static_cast<Rank>((own + step) % n), {Buffer::kInput, at},
                          rest(shape.length(own)), round);
            }
            into.wait_for(previous);
        }
        into.wait();
    };
}

Counts concat_pieces_counts(const Shape& shape, Bytes piece) {
    Counts counts = concat_ring_counts(shape);
    if (shape.bytes > piece) counts.c1 *= (shape.bytes + piece - 1) / piece;
    return counts;
}

}  // namespace poe::collectives
