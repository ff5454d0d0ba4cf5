// Which segment each member of a pipeline along a circulant graph receives in which round; the
// broadcast is in bcast_circulant.cpp. Apart from the broadcast because it is arithmetic that a
// test can look at by itself.
//
// With q = ceil(log n) there are distances d(0) < ... < d(q) = n, each half of the next one,
// rounded up. In round k of a phase of q rounds member r sends to r + d(k) and receives from r -
// d(k), modulo n. In a phase it receives, counted from the phase's first segment, the segments -q
// .. -1 but one, and one of 0 .. q - 1: its base segment, which it does not receive in the next
// phase. Each segment that it sends is one that it has received earlier in the phase, or its base
// segment of the last.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::collectives {

class CirculantBlocks {
  public:
    // n >= 2.
    explicit CirculantBlocks(std::uint32_t n);

    std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(rounds_); }  // q
    std::uint32_t distance(std::uint32_t round) const noexcept { return distances_[round]; }

    // The segments that a member receives in the q rounds of a phase, counted from the phase's
    // first segment; the root's, member 0, are not received but its own. Costs O(q^2).
    std::vector<std::int32_t> received(std::uint32_t member) const;

  private:
    struct Search;
    int base(std::uint32_t member) const noexcept;

    std::uint32_t n_;
    int rounds_;
    std::vector<std::uint32_t> distances_;
};

}  // namespace poe::collectives
