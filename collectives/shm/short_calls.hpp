// Short calls: all contributions and results fit into one call of a GroupSegment. The functions
// differ in which members wait for which others. Each function makes the call of this member and
// blocks until it may return.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/shm_group.hpp"

namespace poe::collectives {

// True if all contributions and results of the call fit. Depends on the shape only, so all members
// decide alike.
bool fits_short(const Shape& shape) noexcept;

// True if one member contributes everything: a broadcast or a scatter.
inline bool is_from_root(const Shape& shape) noexcept {
    return shape.operation == Operation::kBcast || shape.operation == Operation::kScatter;
}

// Shift: each member waits for one other member only.
void shift_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run);
// Gather: only the root waits.
void gather_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run);
// Combine or concat of two members: they exchange everything, and each computes the result. That is
// faster than if one computes it for both.
void swap_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run);
// Broadcast or scatter: the root publishes, the others wait for it.
void publish_from_root(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run);
// Sync, combine, gather, concat or index: every member waits until the last one has arrived and has
// published the result.
void arrive_and_publish(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run);

}  // namespace poe::collectives
