// Broadcast in a pipeline along generalized Fibonacci trees (CCL paper, IV.B; Bruck, Cypher, Ho
// 1992) for any number of ranks; fibonacci_trees.hpp describes the trees. For s segments, C1 = s +
// d where d is the trees' delay, C2 = the bytes of C1 segments, C3 = m (n - 1). The paper's bound
// is C1 <= s + log n + 3 log log n + 15. The chooser does not consider this algorithm, because the
// circulant pipeline (bcast_circulant.cpp) never needs more rounds.
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/fibonacci_trees.hpp"

namespace poe::collectives {

Generator bcast_fibonacci(const Shape& shape, std::uint32_t segments) {
    const auto trees = shape.n > 1 ? std::make_shared<const FibonacciTrees>(shape.n) : nullptr;
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root), trees,
            cut = Segments(shape.bytes, segments, shape.element)](Rank rank, Schedule& into) {
        if (n == 1) return;
        const std::uint32_t member = (static_cast<std::uint32_t>(rank) + n - root) % n;
        const std::uint32_t k = trees->trees();
        const std::uint32_t rounds = cut.count + trees->delay();
        const auto rank_of = [&](std::uint32_t of) { return static_cast<Rank>((of + root) % n); };
        // Calls act(peer, place, length) if the transfer takes place in a round.
        const auto act_in = [&](std::uint32_t round, const FibonacciTrees::Transfer& transfer,
                                const auto& act) {
            if (round < transfer.round || (round - transfer.round) % k != 0) return;
            const std::uint32_t segment = transfer.tree + round - transfer.round;
            if (segment >= cut.count) return;
            act(rank_of(transfer.peer), Place{Buffer::kOutput, cut.offset(segment)},
                cut.length(segment));
        };
        for (std::uint32_t round = 0; round < rounds; ++round) {
            for (const auto& transfer : trees->received(member)) {
                act_in(round, transfer, [&](Rank peer, Place place, Bytes length) {
                    into.receive(peer, place, length, static_cast<int>(round));
                });
            }
            for (const auto& transfer : trees->sent(member)) {
                act_in(round, transfer, [&](Rank peer, Place place, Bytes length) {
                    into.send(peer, place, length, static_cast<int>(round));
                });
            }
            into.wait();
        }
    };
}

}  // namespace poe::collectives
