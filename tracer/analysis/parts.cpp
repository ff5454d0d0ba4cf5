// Implementation of parts.hpp.
#include "tracer/analysis/parts.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace poe::trace {
namespace {

// Number 0 means computing outside all regions.
std::vector<std::uint32_t> user_regions(const Definitions& definitions) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t region = 1; region < definitions.regions().size(); ++region)
        if (definitions.region(region).of_user) found.push_back(region);
    return found;
}

}  // namespace

bool TimeParts::too_many(const Definitions& definitions) {
    return user_regions(definitions).size() > kRegionParts;
}

TimeParts::TimeParts(const Definitions& definitions, std::span<const Time> times)
    : parts_(definitions.regions().size(), static_cast<std::size_t>(State::kComputing)) {
    std::vector<std::uint32_t> own = user_regions(definitions);
    if (own.size() > kRegionParts) {
        const auto time_of = [times](std::uint32_t region) {
            return region < times.size() ? times[region] : Time{0};
        };
        const std::size_t others = own.size() - (kRegionParts - 1);
        std::stable_sort(own.begin(), own.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return time_of(a) > time_of(b); });
        for (std::size_t i = kRegionParts - 1; i < own.size(); ++i) parts_[own[i]] = kParts - 1;
        names_[kRegionParts - 1] = fmt::format("{} other regions", others);
        own.resize(kRegionParts - 1);
        std::sort(own.begin(), own.end());
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
        parts_[own[i]] = kStates + i;
        names_[i] = definitions.region(own[i]).name;
    }
}

Time computing_of(const PartTimes& times) {
    return std::accumulate(times.begin() + kStates, times.end(),
                           times[static_cast<std::size_t>(State::kComputing)]);
}

Time traced_of(const PartTimes& times) {
    return std::accumulate(times.begin() + 1, times.end(), Time{0});
}

}  // namespace poe::trace
