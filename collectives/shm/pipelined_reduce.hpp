// A reduction or a prefix in the shared memory of a group (group_segment.hpp), in which sums pass
// from slot to slot. A member combines its own contribution with the sums in the slots of other
// members and writes the new sum to its own slot, for the next member. Each byte is thus read,
// combined and written once; only the first members copy data before they are combined. Sums are in
// rank order.
//
//   - A prefix goes along a chain of all ranks.
//   - A reduction goes along a binomial tree on either side of the root, because along a chain a
//     single reduction would pass through all members. If it has few bytes, all members give to the
//     root directly.
//
// A member waits only for the members whose sums it uses. If several tasks share a core, each
// therefore completes several calls, or several pieces of a long call, each time it runs: as many
// as there are slots. This is separate from staged calls (staged_call.hpp), which have long slots
// and few of them, so that the data stay in caches.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/call_tools.hpp"

namespace poe::collectives {

// True if the call can be made in several pieces. It cannot if it has a user's function, which must
// get whole vectors. Every reduce and prefix that fits into one piece can be made. Depends on the
// shape only, so all members decide alike.
bool fits_pipelined_reduce(const Shape& shape) noexcept;

// Makes the call; blocks. The segment is the one for long data, or, if the call fits into one slot,
// one for short data.
void pipelined_reduce(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run);

}  // namespace poe::collectives
