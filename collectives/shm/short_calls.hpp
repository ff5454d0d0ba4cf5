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

// In larger groups it is faster to let one member compute the result for all.
inline constexpr std::uint32_t kMaxLineMembers = 4;

// Parts of the functions below, also for calls that do not block (started_calls.hpp). `call` is the
// number of the call in the segment.
// The bytes that `member` writes to its slot.
Bytes contribution_of(const Shape& shape, std::uint32_t member) noexcept;
// Computes what `member` gets from the slots of all members, in rank order.
void collect(const Shape& shape, const Run& run, const GroupSegment& segment, std::uint64_t call,
             std::uint32_t member, std::byte* result, std::byte* scratch);
// Writes the own slot and arrives. The last member to arrive also publishes the result; returns
// true if this one is it.
bool contribute(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run,
                std::uint64_t call);
// What this member gets of the result that was published so.
void take_published(GroupSegment& segment, const Shape& shape, const Run& run, std::uint64_t call);
// The root publishes what it gives in a broadcast or scatter, and what a member gets of it.
void publish_as_root(GroupSegment& segment, const Shape& shape, const Run& run, std::uint64_t call);
void take_from_root(GroupSegment& segment, const Shape& shape, const Run& run, std::uint64_t call);

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
