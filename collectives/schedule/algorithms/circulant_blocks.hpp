// CirculantBlocks: the segment that each member of a pipeline along a circulant graph receives in
// each round. The broadcast is in bcast_circulant.cpp. It is separate because it is arithmetic that
// is tested by itself.
//
// With q = ceil(log n) there are distances d(0) < ... < d(q) = n, each of which is half of the next
// one, rounded up. In round k of a phase of q rounds, member r sends to r + d(k) and receives from
// r - d(k), modulo n. Segments are counted from the first segment of the phase. In a phase a member
// receives all but one of the segments -q .. -1, and one of 0 .. q - 1: its base segment, which it
// does not receive in the next phase. Each segment that it sends is one that it has received
// earlier in the phase, or its base segment of the previous phase.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::collectives {

class CirculantBlocks {
  public:
    // Precondition: n >= 2.
    explicit CirculantBlocks(std::uint32_t n);

    std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(rounds_); }  // q
    std::uint32_t distance(std::uint32_t round) const noexcept { return distances_[round]; }

    // The segments that a member receives in the q rounds of a phase, counted from the first
    // segment of the phase. The result for member 0, the root, is not what it receives but its own
    // segments. Costs O(q^2).
    std::vector<std::int32_t> received(std::uint32_t member) const;

  private:
    struct Search;
    int base(std::uint32_t member) const noexcept;

    std::uint32_t n_;
    int rounds_;
    std::vector<std::uint32_t> distances_;
};

}  // namespace poe::collectives
