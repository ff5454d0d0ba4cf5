// ClockFit: from the clock of one node to that of the home node, through raw measurements that
// the trace holds. Of measurements made together the one with the shortest round trip counts; in
// between, and beyond the ends, straight lines. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace poe::trace {

class ClockFit {
  public:
    struct Sample {
        std::uint64_t time = 0;   // of the node's clock, ns
        std::int64_t offset = 0;  // this clock minus the home node's, ns
        std::uint32_t round_trip = 0;
        bool operator==(const Sample&) const = default;
    };

    // The same clock.
    ClockFit() = default;
    // A clock that is so far ahead all the time.
    static ClockFit constant(std::int64_t offset);
    static ClockFit through(std::vector<Sample> samples);

    // The home node's clock, ns, at that time of this node's, both modulo 2^64.
    std::uint64_t home(std::uint64_t time) const noexcept;
    // The last time of the node's clock up to which another fit gives the same; the farthest when
    // it gives the same everywhere. Nothing: it may differ everywhere.
    std::optional<std::uint64_t> agrees_until(const ClockFit& other) const;
    std::size_t points() const { return points_.size(); }

  private:
    std::vector<Sample> points_;  // by time, no two of the same
};

}  // namespace poe::trace
