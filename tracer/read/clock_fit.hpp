// ClockFit: converts a node's clock to the home node's clock, from the raw measurements in the
// trace. Of measurements made together, the one with the shortest round trip counts. The fit is
// linear between the measurements and beyond the ends. If two measurements are so close together
// that their errors would imply an impossible drift, only the better one counts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace poe::trace {

class ClockFit {
  public:
    struct Sample {
        std::uint64_t time = 0;   // on the node's clock, ns
        std::int64_t offset = 0;  // this clock minus the home node's, ns
        std::uint32_t round_trip = 0;
        bool operator==(const Sample&) const = default;
    };

    // The identity: the same clock.
    ClockFit() = default;
    // A clock that is always ahead by `offset` ns.
    static ClockFit constant(std::int64_t offset);
    static ClockFit through(std::vector<Sample> samples);
    // The fit through these points, which must be in order of time.
    static ClockFit of_points(std::vector<Sample> points);

    // The same fit with corrections, in ns, added to the offset: linear between the corrections'
    // times on the node's clock (ascending), constant beyond them.
    struct Correction {
        std::uint64_t time = 0;
        std::int64_t by = 0;
    };
    ClockFit corrected(const std::vector<Correction>& corrections) const;

    // Converts a time of this node's clock to the home node's clock, in ns; both modulo 2^64.
    std::uint64_t home(std::uint64_t time) const noexcept;
    // Returns the last time of the node's clock up to which another fit gives the same results; the
    // maximum if they agree everywhere. Empty: they may differ everywhere.
    std::optional<std::uint64_t> agrees_until(const ClockFit& other) const;
    const std::vector<Sample>& points() const { return points_; }
    // The largest error of the fit at its points, in ns: half of the longest round trip.
    std::uint64_t doubt() const noexcept;
    // The largest drift of the fit from the true clock, as a share of the time.
    double drift_doubt() const noexcept;

    // The clocks of computers drift apart by less than this share of the time.
    static constexpr double kMostDrift = 1e-4;

  private:
    std::vector<Sample> points_;  // in order of time, with distinct times
};

}  // namespace poe::trace
