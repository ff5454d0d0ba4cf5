// Index by sending every block directly to its destination, in pieces: in each round, a rank sends
// the next piece of every block that has one left, to all destinations at the same time. Two rounds
// are under way at once. So at most 2 (n - 1) pieces are on their way to a rank, whatever the
// length of the blocks; over a network this keeps the queue of its cable short without any signals.
//
// A rank needs only its own row and column of the matrix of lengths. C1 = n - 1 for each piece of a
// block, C2 = m (n - 1) for blocks of m bytes.
#include <algorithm>

#include "base/check.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator index_pieces(const Shape& shape, Bytes piece) {
    POE_CHECK(piece > 0);
    return [shape, piece](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        const auto own = static_cast<std::uint32_t>(rank);
        std::vector<Bytes> row(n + 1);
        std::vector<Bytes> column(n + 1);
        Bytes longest = 0;
        for (std::uint32_t other = 0; other < n; ++other) {
            const Bytes out = shape.between(own, other);
            const Bytes in = shape.between(other, own);
            row[other + 1] = row[other] + out;
            column[other + 1] = column[other] + in;
            if (other != own) longest = std::max({longest, out, in});
        }
        for (Bytes at = 0; at < longest; at += piece) {
            const auto rest = [&](Bytes bytes) {
                return bytes > at ? std::min(bytes - at, piece) : 0;
            };
            const std::uint32_t previous = into.started();
            for (std::uint32_t step = 1; step < n; ++step) {
                const std::uint32_t to = (own + step) % n;
                const std::uint32_t from = (own + n - step) % n;
                const auto round = static_cast<int>(at / piece * (n - 1) + step) - 1;
                into.receive(static_cast<Rank>(from), {Buffer::kOutput, column[from] + at},
                             rest(shape.between(from, own)), round);
                into.send(static_cast<Rank>(to), {Buffer::kInput, row[to] + at},
                          rest(shape.between(own, to)), round);
            }
            if (at == 0)
                into.copy({Buffer::kInput, row[own]}, {Buffer::kOutput, column[own]},
                          shape.between(own, own));
            into.wait_for(previous);
        }
        if (longest == 0)
            into.copy({Buffer::kInput, row[own]}, {Buffer::kOutput, column[own]},
                      shape.between(own, own));
        into.wait();
    };
}

Counts index_pieces_counts(const Shape& shape, Bytes piece) {
    Counts counts = index_pairwise_counts(shape);
    if (shape.bytes > piece) counts.c1 *= (shape.bytes + piece - 1) / piece;
    return counts;
}

}  // namespace poe::collectives
