// Root causes: which activities of which tasks have caused the wait states, directly or through
// waits of other tasks. The method is the delay analysis of Boehme, Geimer, Arnold, Voigtlaender
// and Wolf, "Identifying the Root Causes of Wait States in Large-Scale Parallel Applications" (ACM
// TOPC 3, 2016). Pure.
//
//   1. A wait of task p for task q ends when q does something. The interval in which its causes are
//      looked for begins, on each of both tasks, where the two communicated last before.
//   2. The delays of q are what q did longer in its interval than p did in its own, by kinds:
//      computing in each region, communication without waits, waits, and the rest.
//   3. The length of the wait is divided among the delays and among the waits of q in the interval,
//      in proportion. The share of a delay is its short-term cost.
//   4. A wait of q that receives a share passes it on, in the proportions of its own division, to
//      what has caused it. What reaches a delay this way is its long-term cost.
//
// So all costs together are the sum of all waits.
#pragma once

#include <vector>

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// Something that a task did, and that others waited for.
struct Cause {
    TaskId task = 0;
    State state = State::kComputing;
    std::uint32_t region = 0;
    std::uint32_t site = 0;
    std::uint32_t phase = 0;
    double short_term = 0;  // ns of waiting for it
    double long_term = 0;   // ns of waiting for tasks that waited because of it
    // The tasks that waited, and for how many ns because of this; longest first, at most kVictims.
    struct Victim {
        TaskId task = 0;
        double time = 0;
    };
    static constexpr std::size_t kVictims = 16;
    std::vector<Victim> victims;
    bool more_victims = false;  // there are others
    double cost() const { return short_term + long_term; }
};

// Returns the causes of all waits, the most expensive one first. The costs of a wait that lasts
// from 0 to 1 s are 1e9. The search for the causes of a wait begins at its sync point
// (sync_points.hpp), but looks at no more than the last kMostLookedAt activities of each of the two
// tasks. If `cut` is not null, the function adds to it the length of the waits for which this limit
// ended the search. It needs time in proportion to the number of waits, times that of the
// activities looked at for each.
inline constexpr std::size_t kMostLookedAt = 4096;
std::vector<Cause> find_root_causes(const History& history, Time* cut = nullptr);

}  // namespace poe::trace
