// CallTools: what a member of a group keeps for its calls in shared memory, besides the segments.
#pragma once

#include <vector>

#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/non_temporal_tuner.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

struct CallTools {
    std::uint32_t tasks_per_core = 1;  // of the node; the same at all members
    comm::RingCopy into_slots;  // this and `stores` keep the costs of earlier copies into slots
    NonTemporalTuner stores;
    std::vector<std::byte> scratch =
        std::vector<std::byte>(GroupSegment::kLong.slot);  // for users' functions

    // Returns how often a member polls for another member's data before it yields its core: long
    // enough for a cache line to arrive from another core. 0 if tasks share cores, because the
    // other member then often waits for this member's core.
    int spins() const noexcept { return tasks_per_core > 1 ? 0 : 4; }
};

}  // namespace poe::collectives
