// SlotCopy: how long calls copy data into and out of slots of shared memory. For one call.
#pragma once

#include "collectives/shm/group_segment.hpp"
#include "comm/shm/non_temporal.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

// Copies data out of a slot. With non-temporal stores, each byte is transferred twice: read from
// memory and written to it. Otherwise it is transferred three times, because the destination's line
// is fetched first. For copies into a slot see non_temporal_tuner.hpp.
inline void copy_by(std::byte* to, const std::byte* from, Bytes bytes, bool non_temporal) {
    if (non_temporal) {
        comm::copy_non_temporal(to, from, bytes);
    } else {
        put(to, from, bytes);
    }
}

struct SlotCopy {
    comm::RingCopy& into_slots;  // the task's; remembers the cost of such copies
    bool non_temporal;           // all data of all members are large for the caches

    void in(std::byte* slot, const std::byte* from, Bytes bytes) const {
        if (bytes > 0) into_slots(slot, from, bytes);
    }
    void out(std::byte* to, const std::byte* from, Bytes bytes) const {
        copy_by(to, from, bytes, non_temporal);
    }
};

}  // namespace poe::collectives
