// Decides by the cost model of chooser.hpp whether the blocks of an irregular index should travel
// in combined messages (schedule/combined_steps.hpp) instead of directly. The finder of plans asks
// (tracer/plan), because the members can agree that blocks are short only by a plan. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

struct CombinedDecision {
    // The radix with the least predicted time; 0: blocks should be sent directly.
    std::uint32_t radix = 0;
    // Predicted times of a call in microseconds; `combined` is that of the best radix.
    double direct = 0;
    double combined = 0;
    // The maximum number of messages that a member sends.
    std::uint32_t direct_messages = 0;
    std::uint32_t combined_messages = 0;
};

// `nodes`: the node of each rank, counted from 0 in the order of first ranks. `lengths`: n x n
// bytes by source and destination. On one node the answer is always no, because its messages do not
// pass a network. A predicted gain of less than a tenth does not count.
CombinedDecision decide_combined(const Tuning& tuning, const std::vector<std::uint32_t>& nodes,
                                 const std::vector<Bytes>& lengths);

}  // namespace poe::collectives
