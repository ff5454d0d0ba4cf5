// Reduce-scatter and concat by halving and doubling, in rank order. Part of the combine and of the
// reduce that are made of them.
#pragma once

#include "collectives/schedule/algorithms/blocks.hpp"

namespace poe::collectives {

// A power of two of members after others have been folded into them: member m of the inner group
// stands for itself and, among the first, for the odd neighbour that gave it its data.
struct Folded {
    std::uint32_t inside = 1;
    std::uint32_t extra = 0;

    explicit Folded(std::uint32_t n) : inside(1u << log2_down(n)), extra(n - inside) {}
    bool outside(std::uint32_t rank) const noexcept { return rank < 2 * extra && rank % 2 == 1; }
    std::uint32_t member(std::uint32_t rank) const noexcept {
        return rank < 2 * extra ? rank / 2 : rank - extra;
    }
    Rank rank(std::uint32_t member) const noexcept {
        return static_cast<Rank>(member < extra ? member * 2 : member + extra);
    }
    int first_round() const noexcept { return extra > 0 ? 1 : 0; }
};

// The parts that a member holds the reduction of after so many of the halving rounds.
struct Interval {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};
Interval held(std::uint32_t inside, std::uint32_t member, int rounds);

// Gives odd neighbours' data to even ones, then halves: round k is with the member whose bit k
// differs, who keeps the other half of the parts. What partners hold are neighbouring intervals of
// ranks in every round, so the order is kept. `data` has all parts before; after, the held ones.
void halve(Schedule& schedule, const Folded& folded, std::uint32_t rank, const Parts& parts,
           Place data, Place received);

}  // namespace poe::collectives
