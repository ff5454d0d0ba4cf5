// Short calls: all contributions and results fit into one call of a GroupSegment. The functions
// differ in which members wait for which others. Each function makes the call of this member and
// blocks until it may return.
#pragma once

#include "collectives/shm/call_tools.hpp"
#include "collectives/shm/movement.hpp"

namespace poe::collectives {

// These depend on the arguments only, so all members decide alike.
// True if all contributions and results of the call fit.
bool fits_short(const Shape& shape) noexcept;
// True if exchange_slots() with slots of one cache line is the best way to make the call.
bool fits_cache_lines(const Shape& shape, bool barrier) noexcept;
// The most bytes that a member writes to its slot, and those of a result that one member publishes.
Bytes contribution_to(const Shape& shape) noexcept;
Bytes published_in(const Shape& shape) noexcept;

// Every member reads the slots of all others and computes its own result. If a slot is a cache
// line, the call takes the time of one transfer of a line between two cores; an arrival, a result
// and a departure would take four transfers, one after the other. Every member does all the work,
// so this is for few members. All operations but broadcast and scatter.
void exchange_slots(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run);
// Sync, combine, gather, concat or index: every member waits until the last one has arrived and has
// published the result.
void arrive_and_publish(CallTools& tools, GroupSegment& segment, const Shape& shape,
                        const Run& run);
// Shift or gather: each member gives to one other. Only a member that gets data waits.
void give_to_one(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run);
// Broadcast or scatter: the root publishes, the others wait for it.
void publish_from_root(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run);

}  // namespace poe::collectives
