// SlotCopy: how long calls copy into slots of shared memory and out of them. Of one call.
#pragma once

#include "collectives/shm/group_segment.hpp"
#include "comm/shm/non_temporal.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

// Out of a slot past the cache a byte goes through memory twice, read and written; else three
// times, since the line that it is written to is brought first. Into a slot: see non_temporal_tuner.hpp.
inline void copy_by(std::byte* to, const std::byte* from, Bytes bytes, bool non_temporal) {
    if (non_temporal) {
        comm::copy_non_temporal(to, from, bytes);
    } else {
        put(to, from, bytes);
    }
}

struct SlotCopy {
    comm::RingCopy& into_slots;  // the task's; knows what such copies cost in calls before
    bool non_temporal;           // what all members give and get is much for the caches

    void in(std::byte* slot, const std::byte* from, Bytes bytes) const {
        if (bytes > 0) into_slots(slot, from, bytes);
    }
    void out(std::byte* to, const std::byte* from, Bytes bytes) const {
        copy_by(to, from, bytes, non_temporal);
    }
};

}  // namespace poe::collectives
