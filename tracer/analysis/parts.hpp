// TimeParts: what the time of a task is divided into: the states, where the time in the user's
// regions is taken out of computing. Each region has a part of its own, up to kRegionParts of them;
// if a trace has more regions, those with the most time have one and the others share the last.
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
    // `times`: how long tasks have been in each region, by its number; may be shorter. TimeParts do
    // not depend on it as long as there is one for each region, so a trace that grows keeps them.
    TimeParts(const Definitions& definitions, std::span<const Time> times);

    // True if there are more regions than parts, so that `times` matters.
    static bool too_many(const Definitions& definitions);

    // The part of a user's region; that of computing for 0, which is in none.
    std::size_t of_region(std::uint32_t region) const {
        return region < parts_.size() ? parts_[region]
                                      : static_cast<std::size_t>(State::kComputing);
    }
    // "computing", or the name of the region.
    std::string_view name(std::size_t part) const {
        return part < kStates ? state_word(static_cast<State>(part)) : names_[part - kStates];
    }

  private:
    std::vector<std::size_t> parts_;  // by region
    std::array<std::string, kRegionParts> names_;
};

// All computing, in regions and in none.
Time computing_of(const PartTimes& times);
// All time in which the task was traced.
Time traced_of(const PartTimes& times);

}  // namespace poe::trace
