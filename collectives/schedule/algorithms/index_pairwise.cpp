// Index by sending every block directly to its destination: C1 = n - 1, C2 = m (n - 1) for blocks
// of m bytes, C3 = n C2. In step i, rank r sends to rank r + i. While all ranks are in the same
// step, every rank therefore receives one message at a time. With a `window` of several steps (0:
// all steps), ranks may be in different steps. With unequal blocks, this is algorithm A1 of the
// irregular all-to-all paper (Liu, Wang, Prasanna): blocking if window is 1, otherwise nonblocking.
// A rank needs only its own row and its own column of the matrix of lengths.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator index_pairwise(const Shape& shape, std::uint32_t window) {
    return [shape, window](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        const auto own = static_cast<std::uint32_t>(rank);
        std::vector<Bytes> row(n + 1);
        std::vector<Bytes> column(n + 1);
        for (std::uint32_t other = 0; other < n; ++other) {
            row[other + 1] = row[other] + shape.between(own, other);
            column[other + 1] = column[other] + shape.between(other, own);
        }
        for (std::uint32_t step = 1; step < n; ++step) {
            const std::uint32_t to = (own + step) % n;
            const std::uint32_t from = (own + n - step) % n;
            const int round = static_cast<int>(step) - 1;
            into.receive(static_cast<Rank>(from), {Buffer::kOutput, column[from]},
                         shape.between(from, own), round);
            into.send(static_cast<Rank>(to), {Buffer::kInput, row[to]}, shape.between(own, to),
                      round);
            if (window > 0 && step % window == 0) into.wait();
        }
        into.copy({Buffer::kInput, row[own]}, {Buffer::kOutput, column[own]},
                  shape.between(own, own));
        into.wait();
    };
}

Counts index_pairwise_counts(const Shape& shape) {
    const std::uint64_t others = shape.n - 1;
    return {others, others * shape.bytes, shape.n * others * shape.bytes};
}

}  // namespace poe::collectives
