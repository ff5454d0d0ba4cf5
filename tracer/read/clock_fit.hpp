// ClockFit: from the clock of one node to that of the home node, through raw measurements that
// the trace holds. Of measurements made together the one with the shortest round trip counts; in
// between, and beyond the ends, straight lines. Where two measurements are so close together that
// their errors say more about a drift than the clocks can have, the better one alone counts. Pure.
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
    // Through these points, by time.
    static ClockFit of_points(std::vector<Sample> points);

    // The same fit with a correction, in ns, added to the offset: linear between these moments of
    // the node's clock (rising), constant beyond them.
    struct Correction {
        std::uint64_t time = 0;
        std::int64_t by = 0;
    };
    ClockFit corrected(const std::vector<Correction>& corrections) const;

    // The home node's clock, ns, at that time of this node's, both modulo 2^64.
    std::uint64_t home(std::uint64_t time) const noexcept;
    // The last time of the node's clock up to which another fit gives the same; the farthest when
    // it gives the same everywhere. Nothing: it may differ everywhere.
    std::optional<std::uint64_t> agrees_until(const ClockFit& other) const;
    const std::vector<Sample>& points() const { return points_; }
    // How far the fit may be off at its points, in ns: half of the longest round trip.
    std::uint64_t doubt() const noexcept;
    // By how much the fit may drift away from the true clock, as a share of the time.
    double drift_doubt() const noexcept;

    // Clocks of computers drift apart by less than this share of the time.
    static constexpr double kMostDrift = 1e-4;

  private:
    std::vector<Sample> points_;  // by time, no two of the same
};

}  // namespace poe::trace
