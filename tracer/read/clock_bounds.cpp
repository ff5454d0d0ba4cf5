// Implementation of clock_bounds.hpp.
#include "tracer/read/clock_bounds.hpp"

#include <algorithm>

namespace poe::trace {

void ClockBounds::before(std::size_t first, std::size_t second, Time later) {
    if (first == second) return;
    const auto [known, is_new] = least_.try_emplace({first, second}, later);
    if (!is_new) known->second = std::min(known->second, later);
}

bool ClockBounds::holds() const {
    return std::all_of(least_.begin(), least_.end(),
                       [](const auto& pair) { return pair.second >= Time{0}; });
}

// Bellman-Ford. An empty path: there is none. An empty result: there is a cycle of negative length.
std::optional<std::vector<std::optional<Time>>> ClockBounds::paths(std::size_t reference,
                                                                   bool backwards) const {
    std::vector<std::optional<Time>> length(nodes_);
    length[reference] = Time{0};
    for (std::size_t round = 0; round <= nodes_; ++round) {
        bool shorter = false;
        for (const auto& [pair, later] : least_) {
            const auto [from, to] = backwards ? std::pair(pair.second, pair.first) : pair;
            if (!length[from] || (length[to] && *length[to] <= *length[from] + later)) continue;
            length[to] = *length[from] + later;
            shorter = true;
        }
        if (!shorter) return length;
    }
    return std::nullopt;
}

std::optional<std::vector<ClockBounds::Range>> ClockBounds::solve(std::size_t reference) const {
    const auto most = paths(reference, false);
    const auto least = paths(reference, true);
    if (!most || !least) return std::nullopt;
    std::vector<Range> ranges(nodes_);
    for (std::size_t node = 0; node < nodes_; ++node) {
        ranges[node].most = (*most)[node];
        if ((*least)[node]) ranges[node].least = -*(*least)[node];
    }
    return ranges;
}

}  // namespace poe::trace
