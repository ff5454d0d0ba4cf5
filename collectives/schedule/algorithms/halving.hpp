// Reduce-scatter by recursive halving, in rank order: a part of the combine and of the reduce that
// are made of it.
#pragma once

#include "collectives/schedule/algorithms/blocks.hpp"

namespace poe::collectives {

// A power of two of members, after the others have been folded into them: member m of the inner
// group stands for itself and, if it is among the first, for the odd neighbour that gave it its
// data.
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

// The parts whose reduction a member holds after `rounds` halving rounds.
struct Interval {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};
Interval held(std::uint32_t inside, std::uint32_t member, int rounds);

// Gives the data of odd neighbours to even ones, then halves: in round k, the partner is the member
// whose bit k differs, and it keeps the other half of the parts. In every round, partners hold
// adjacent intervals of ranks, so the order is kept. `data` contains all parts before the call, and
// the held ones after it.
void halve(Schedule& schedule, const Folded& folded, std::uint32_t rank, const Parts& parts,
           Place data, Place received);

}  // namespace poe::collectives
