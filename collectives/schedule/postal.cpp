// Computations in the postal model; see postal.hpp.
#include "collectives/schedule/postal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poe::collectives {

Lambda Lambda::nearest(double lambda) {
    constexpr std::uint32_t kUnit = 1000;
    constexpr double kMost = 1e6;
    const double bounded = std::clamp(lambda, 1.0, kMost);
    const auto latency = static_cast<std::uint32_t>(std::lround(bounded * kUnit));
    const std::uint32_t common = std::gcd(latency, kUnit);
    return {latency / common, kUnit / common};
}

PostalTimes::PostalTimes(Lambda lambda, std::uint64_t n) : lambda_(lambda) {
    reached_.push_back(1);
    while (reached_.back() < n) {
        const auto t = static_cast<std::int64_t>(reached_.size());
        const bool any = t >= lambda.latency;
        reached_.push_back(any ? reached(t - lambda.unit) + reached(t - lambda.latency) : 1);
    }
}

std::uint64_t PostalTimes::reached(std::int64_t t) const noexcept {
    if (t < 0) return 1;
    return reached_[std::min(static_cast<std::size_t>(t), reached_.size() - 1)];
}

std::int64_t PostalTimes::time(std::uint64_t n) const noexcept {
    return std::lower_bound(reached_.begin(), reached_.end(), n) - reached_.begin();
}

SplitRule split_in_half() {
    return [](std::uint32_t n) { return n - n / 2; };
}

SplitRule split_by(double alpha) {
    return [alpha](std::uint32_t n) {
        const auto kept = static_cast<std::uint32_t>(std::lround(alpha * n));
        return std::clamp(kept, n - n / 2, n - 1);
    };
}

double fixed_alpha(Lambda lambda) {
    return 1 / growth(lambda.value());
}

// Each n allows a range of alphas (2.5 of the paper). An entry covers successive n as long as their
// ranges have a common part.
std::vector<AlphaEntry> alpha_table(Lambda lambda, std::uint32_t most) {
    constexpr double kSafe = 1e-9;  // the distance from values at which rounding changes
    const PostalTimes times(lambda, most);
    std::vector<AlphaEntry> table;
    double low = 0;
    double high = 1;
    for (std::uint32_t n = 2; n <= most; ++n) {
        const std::int64_t t = times.time(n);
        const std::uint64_t others = times.reached(t - lambda.latency);
        const auto fewest =
            std::max<std::uint64_t>(n - std::min<std::uint64_t>(others, n - 1), n - n / 2);
        const auto largest = std::min<std::uint64_t>(times.reached(t - lambda.unit), n - 1);
        const double from = (static_cast<double>(fewest) - 0.5) / n + kSafe;
        const double to = (static_cast<double>(largest) + 0.5) / n - kSafe;
        if (std::max(low, from) > std::min(high, to)) {
            table.push_back({n - 1, (low + high) / 2});
            low = 0;
            high = 1;
        }
        low = std::max(low, from);
        high = std::min(high, to);
    }
    table.push_back({std::max<std::uint32_t>(most, 2), (low + high) / 2});
    return table;
}

SplitRule split_by_table(std::vector<AlphaEntry> table) {
    return [table = std::move(table)](std::uint32_t n) {
        auto entry = std::lower_bound(
            table.begin(), table.end(), n,
            [](const AlphaEntry& each, std::uint32_t size) { return each.up_to < size; });
        if (entry == table.end()) --entry;
        return split_by(entry->alpha)(n);
    };
}

std::int64_t tree_time(const SplitRule& split, Lambda lambda, std::uint32_t n) {
    if (n <= 1) return 0;
    const std::uint32_t kept = split(n);
    return std::max(lambda.unit + tree_time(split, lambda, kept),
                    lambda.latency + tree_time(split, lambda, n - kept));
}

double growth(double lambda) {
    double low = 1;
    double high = 2;
    for (int i = 0; i < 60; ++i) {
        const double x = (low + high) / 2;
        (std::pow(x, lambda) < std::pow(x, lambda - 1) + 1 ? low : high) = x;
    }
    return (low + high) / 2;
}

double break_even(int floor) {
    return floor * std::log(growth(floor)) / std::log(growth(floor + 1));
}

int combine_lambda(double lambda) {
    const int floor = std::max(1, static_cast<int>(std::floor(lambda)));
    return lambda <= break_even(floor) ? floor : floor + 1;
}

double combine_time(double lambda, std::uint64_t n) {
    const int used = combine_lambda(lambda);
    const PostalTimes times({static_cast<std::uint32_t>(used), 1}, n);
    return static_cast<double>(times.time(n)) * std::max(1.0, lambda / used);
}

}  // namespace poe::collectives
