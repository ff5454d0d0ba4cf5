// TimeParts: divides the time of a task into the states, with the time in the user's regions
// separated from computing. Each region has a part of its own, up to kRegionParts parts. If a trace
// has more regions, those with the most time have their own parts and the others share the last
// one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tracer/read/definitions.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

inline constexpr std::size_t kRegionParts = 8;
// A part below kStates is that State; the others are regions.
inline constexpr std::size_t kParts = kStates + kRegionParts;
using PartTimes = std::array<Time, kParts>;
// By columns of equal length.
using PartBins = std::vector<PartTimes>;

class TimeParts {
  public:
    TimeParts() = default;
    // `times`: the time of all tasks in each region, by its number; may be shorter. It has no
    // effect while each region has a part of its own, so a trace that grows keeps its parts.
    TimeParts(const Definitions& definitions, std::span<const Time> times);

    // True if there are more regions than parts, so that `times` matters.
    static bool too_many(const Definitions& definitions);

    // Returns the part of a user's region; that of computing for 0 (no region).
    std::size_t of_region(std::uint32_t region) const {
        return region < parts_.size() ? parts_[region]
                                      : static_cast<std::size_t>(State::kComputing);
    }
    // Returns "computing", or the name of the region.
    std::string_view name(std::size_t part) const {
        return part < kStates ? state_word(static_cast<State>(part)) : names_[part - kStates];
    }

  private:
    std::vector<std::size_t> parts_;  // by region
    std::array<std::string, kRegionParts> names_;
};

// The total computing time, inside and outside regions.
Time computing_of(const PartTimes& times);
// The total time in which the task was traced.
Time traced_of(const PartTimes& times);

}  // namespace poe::trace
