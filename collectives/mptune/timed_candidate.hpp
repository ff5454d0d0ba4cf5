// TimedCandidate: one way to make a collective call, with its predicted and its measured time, and
// the verdicts that mptune derives from such times. Pure data and pure functions, apart from the
// measuring itself (candidate_timing.hpp), so that tests can check the verdicts with known times.
#pragma once

#include <algorithm>
#include <vector>

#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

struct TimedCandidate {
    Method method;
    double predicted = -1;  // microseconds; negative if the model makes no prediction
    double measured = 0;    // microseconds, the median at this task
    bool taken = false;     // what a call without an explicit choice takes
    bool by_model = false;  // what it would take without measured exceptions (CostModel::bests)
    // Measured again, alternating with the other candidates that looked fastest. Among many
    // candidates that are measured once, the fastest may only have been lucky.
    bool again = false;
};

// The fastest of those that were measured again; if there are none, the fastest of all. `all` must
// not be empty.
inline const TimedCandidate& best_of(const std::vector<TimedCandidate>& all) {
    return *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.again != b.again ? a.again : a.measured < b.measured;
    });
}

// True if the candidate is at most 10 % slower than the best: what `mptune -check` calls "good".
inline bool is_nearly_best(const TimedCandidate& candidate, const TimedCandidate& best) {
    return candidate.measured <= 1.1 * best.measured;
}

// True if the model's choice is more than 5 % slower than the best, so that `mptune -table` records
// the best.
inline bool is_worth_recording(const TimedCandidate& by_model, const TimedCandidate& best) {
    return by_model.measured > 1.05 * best.measured;
}

}  // namespace poe::collectives
