// CallTools: what a member of a group keeps for its calls in shared memory, besides the segments.
#pragma once

#include <vector>

#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/non_temporal_tuner.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

struct CallTools {
    std::uint32_t tasks_per_core = 1;  // of the node; the same at all members
    comm::RingCopy into_slots;  // these two remember what earlier copies into slots have cost
    NonTemporalTuner stores;
    std::vector<std::byte> scratch =
        std::vector<std::byte>(GroupSegment::kLong.slot);  // for users' functions

    // The number of polls for another member's data before this member yields its core. A cache
    // line arrives from another core within this number. If tasks share cores, there are no such
    // polls, because the other member often waits for this one's core.
    int spins() const noexcept { return tasks_per_core > 1 ? 0 : 4; }
};

}  // namespace poe::collectives
