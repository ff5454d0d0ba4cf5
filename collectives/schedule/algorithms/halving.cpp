// Reduce-scatter by recursive halving; see halving.hpp.
#include "collectives/schedule/algorithms/halving.hpp"

namespace poe::collectives {

Interval held(std::uint32_t inside, std::uint32_t member, int rounds) {
    Interval interval{0, inside};
    for (int bit = 0; bit < rounds; ++bit) {
        interval.count /= 2;
        if ((member >> bit & 1u) != 0) interval.first += interval.count;
    }
    return interval;
}

void halve(Schedule& schedule, const Folded& folded, std::uint32_t rank, const Parts& parts,
           Place data, Place received) {
    if (folded.outside(rank)) {
        schedule.send(static_cast<Rank>(rank) - 1, data, parts.bytes, 0);
        schedule.wait();
        return;
    }
    if (rank < 2 * folded.extra) {
        schedule.receive(static_cast<Rank>(rank) + 1, received, parts.bytes, 0);
        schedule.wait();
        schedule.append(received, data, parts.bytes);
    }
    const std::uint32_t member = folded.member(rank);
    const int log = log2_down(folded.inside);
    for (int bit = 0; bit < log; ++bit) {
        const std::uint32_t other = member ^ (1u << bit);
        const Interval mine = held(folded.inside, member, bit + 1);
        const Interval theirs = held(folded.inside, other, bit + 1);
        const Rank partner = folded.rank(other);
        const int round = folded.first_round() + bit;
        const Bytes offset = parts.offset(mine.first);
        const Bytes length = parts.length(mine.first, mine.count);
        schedule.receive(partner, received + offset, length, round);
        schedule.send(partner, data + parts.offset(theirs.first),
                      parts.length(theirs.first, theirs.count), round);
        schedule.wait();
        if (other > member) {
            schedule.append(received + offset, data + offset, length);
        } else {
            schedule.prepend(received + offset, data + offset, length);
        }
    }
}

}  // namespace poe::collectives
