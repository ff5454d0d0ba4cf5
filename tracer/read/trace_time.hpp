// The clock of a trace as readers see it: one time line for all tasks, that of the home node.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace poe::trace {

// Nanoseconds since the origin of the earliest stream.
using Time = std::chrono::nanoseconds;

// Farther from zero no time of a trace is put, whatever its bytes say, so that sums of a few of
// them cannot overflow.
inline constexpr Time kFarthest{std::numeric_limits<std::int64_t>::max() / 8};

constexpr double seconds_of(Time time) noexcept {
    return static_cast<double>(time.count()) / 1e9;
}

}  // namespace poe::trace
