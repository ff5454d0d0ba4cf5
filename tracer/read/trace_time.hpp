// The clock of a trace for readers: one time line for all tasks, that of the home node.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace poe::trace {

// Nanoseconds since the origin of the earliest stream.
using Time = std::chrono::nanoseconds;

// No time of a trace is farther from zero, whatever its bytes contain, so that sums of a few times
// cannot overflow.
inline constexpr Time kFarthest{std::numeric_limits<std::int64_t>::max() / 8};

constexpr double seconds_of(Time time) noexcept {
    return static_cast<double>(time.count()) / 1e9;
}

}  // namespace poe::trace
