// See clock_fit.hpp.
#include "tracer/clock_fit.hpp"

#include <algorithm>
#include <limits>

namespace poe::trace {
namespace {

// Measurements closer than that belong together.
constexpr std::uint64_t kTogether = 1'000'000'000;

}  // namespace

ClockFit ClockFit::constant(std::int64_t offset) {
    ClockFit fit;
    fit.points_.push_back({0, offset, 0});
    return fit;
}

ClockFit ClockFit::through(std::vector<Sample> samples) {
    ClockFit fit;
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.time < b.time; });
    std::uint64_t group_from = 0;
    for (const Sample& sample : samples) {
        if (fit.points_.empty() || sample.time - group_from > kTogether) {
            fit.points_.push_back(sample);
            group_from = sample.time;
        } else if (sample.round_trip < fit.points_.back().round_trip) {
            fit.points_.back() = sample;
        }
    }
    return fit;
}

std::optional<std::uint64_t> ClockFit::agrees_until(const ClockFit& other) const {
    const auto differs =
        std::mismatch(points_.begin(), points_.end(), other.points_.begin(), other.points_.end())
            .first;
    if (points_ == other.points_) return std::numeric_limits<std::uint64_t>::max();
    // One point that both begin with is a constant here and a line there.
    if (differs - points_.begin() < 2) return std::nullopt;
    return (differs - 1)->time;
}

std::uint64_t ClockFit::home(std::uint64_t time) const noexcept {
    if (points_.empty()) return time;
    if (points_.size() == 1) return time - static_cast<std::uint64_t>(points_[0].offset);
    auto above = std::upper_bound(points_.begin() + 1, points_.end() - 1, time,
                                  [](std::uint64_t t, const Sample& p) { return t < p.time; });
    const Sample& b = *above;
    const Sample& a = *(above - 1);
    // A share of the way from a to b, negative before a. Differences of doubles: what they lose is
    // far below the measurements' own errors.
    const double way = static_cast<double>(static_cast<std::int64_t>(time - a.time)) /
                       static_cast<double>(b.time - a.time);
    const double drift = way * (static_cast<double>(b.offset) - static_cast<double>(a.offset));
    constexpr double kMost = 4e18;
    const auto more = static_cast<std::int64_t>(std::clamp(drift, -kMost, kMost));
    return time - (static_cast<std::uint64_t>(a.offset) + static_cast<std::uint64_t>(more));
}

}  // namespace poe::trace
