// Implementation of clock_fit.hpp.
#include "tracer/read/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poe::trace {
namespace {

// Measurements closer than this (ns) belong together.
constexpr std::uint64_t kTogether = 1'000'000'000;

// Returns the sample with the shortest round trip. A sample is treated as damaged if it differs
// from most of the others by more than both can be off.
ClockFit::Sample best_of(std::vector<ClockFit::Sample> together) {
    constexpr std::size_t kEnough = 3;
    constexpr double kNoise = 1e6;  // ns
    const auto shorter = [](const ClockFit::Sample& a, const ClockFit::Sample& b) {
        return a.round_trip < b.round_trip;
    };
    if (together.size() >= kEnough) {
        std::vector<std::int64_t> offsets;
        for (const ClockFit::Sample& sample : together) offsets.push_back(sample.offset);
        const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
        std::nth_element(offsets.begin(), middle, offsets.end());
        std::vector<ClockFit::Sample> near;
        for (const ClockFit::Sample& sample : together)
            if (std::abs(static_cast<double>(sample.offset) - static_cast<double>(*middle)) <=
                static_cast<double>(sample.round_trip) + kNoise)
                near.push_back(sample);
        if (!near.empty()) together = std::move(near);
    }
    return *std::min_element(together.begin(), together.end(), shorter);
}

// The error of the drift between two measurements, as a share of the time between them.
double drift_between(const ClockFit::Sample& a, const ClockFit::Sample& b) {
    return (static_cast<double>(a.round_trip) + static_cast<double>(b.round_trip)) / 2 /
           std::max(static_cast<double>(b.time - a.time), 1.0);
}

std::int64_t correction_at(const std::vector<ClockFit::Correction>& corrections,
                           std::uint64_t time) {
    const auto above =
        std::upper_bound(corrections.begin(), corrections.end(), time,
                         [](std::uint64_t t, const ClockFit::Correction& c) { return t < c.time; });
    if (above == corrections.begin()) return above->by;
    const ClockFit::Correction& a = *(above - 1);
    if (above == corrections.end()) return a.by;
    const double way =
        static_cast<double>(time - a.time) / static_cast<double>(above->time - a.time);
    return a.by + static_cast<std::int64_t>(way * static_cast<double>(above->by - a.by));
}

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
    for (auto from = samples.begin(); from != samples.end();) {
        const auto to = std::find_if(from, samples.end(), [from](const Sample& sample) {
            return sample.time - from->time > kTogether;
        });
        fit.points_.push_back(best_of({from, to}));
        from = to;
    }
    std::vector<Sample>& points = fit.points_;
    if (points.size() == 2 && drift_between(points[0], points[1]) > kMostDrift)
        points.erase(points.begin() + (points[0].round_trip <= points[1].round_trip ? 1 : 0));
    return fit;
}

ClockFit ClockFit::of_points(std::vector<Sample> points) {
    ClockFit fit;
    fit.points_ = std::move(points);
    return fit;
}

ClockFit ClockFit::corrected(const std::vector<Correction>& corrections) const {
    if (corrections.empty()) return *this;
    std::vector<std::uint64_t> times;
    for (const Sample& point : points_) times.push_back(point.time);
    for (const Correction& correction : corrections) times.push_back(correction.time);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    ClockFit fit;
    for (const std::uint64_t time : times)
        fit.points_.push_back(
            {time, static_cast<std::int64_t>(time - home(time)) + correction_at(corrections, time),
             0});
    return fit;
}

std::uint64_t ClockFit::doubt() const noexcept {
    std::uint64_t longest = 0;
    for (const Sample& point : points_)
        longest = std::max<std::uint64_t>(longest, point.round_trip);
    return (longest + 1) / 2;
}

double ClockFit::drift_doubt() const noexcept {
    if (points_.size() < 2) return kMostDrift;
    // The drift of a clock varies a little between two measurements.
    double most = 1e-6;
    for (std::size_t i = 0; i + 1 < points_.size(); ++i)
        most = std::max(most, drift_between(points_[i], points_[i + 1]));
    return std::min(most, kMostDrift);
}

std::optional<std::uint64_t> ClockFit::agrees_until(const ClockFit& other) const {
    const auto differs =
        std::mismatch(points_.begin(), points_.end(), other.points_.begin(), other.points_.end())
            .first;
    if (points_ == other.points_) return std::numeric_limits<std::uint64_t>::max();
    // If only the first point is common, one fit may be a constant and the other a line.
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
    // The fraction of the way from a to b, negative before a. The rounding errors of doubles are
    // far below the errors of the measurements.
    const double way = static_cast<double>(static_cast<std::int64_t>(time - a.time)) /
                       static_cast<double>(b.time - a.time);
    const double drift = way * (static_cast<double>(b.offset) - static_cast<double>(a.offset));
    constexpr double kMost = 4e18;
    const auto more = static_cast<std::int64_t>(std::clamp(drift, -kMost, kMost));
    return time - (static_cast<std::uint64_t>(a.offset) + static_cast<std::uint64_t>(more));
}

}  // namespace poe::trace
