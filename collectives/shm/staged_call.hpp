// Staged calls: calls on long data in the shared memory of a group (group_segment.hpp), piece by
// piece. A member copies a piece of its data into a slot; other members copy it out. Each byte is
// copied twice, but the piece stays in a cache, so the two copies together transfer fewer bytes to
// and from memory than one copy by the kernel.
//
// Each piece is one call of the segment. A member fills the slots of the next piece before it
// copies the previous one out. If tasks share cores, each member therefore has to run once per
// piece, not twice. In each step a member has these partners:
//   kAll  All members that it gives to or takes from in this operation, at the same time.
//   kOne  Pairs exchange one after the other: in round d of n - 1 rounds of an index, each member
//         gives to the member d ranks after it and takes from the member d ranks before it. A
//         member waits only for these two, and pieces are long, so a member that shares its core
//         does much work in one turn. It is for index and shift, and, for two members, concat and
//         combine, where each member adds the other's vector to its own.
//
// A combine among all takes three steps per piece:
//   1. Every member copies its piece into its own slot.
//   2. The piece is divided into one slice per member. Each member reduces its slice of all slots,
//      in rank order, into slot 0.
//   3. When all slices are complete, every member copies slot 0 out.
// Because vectors are cut, a combine must use a predefined function. Other reductions are made by
// pipelined_reduce (pipelined_reduce.hpp).
//
// Stores: If all data together take half of the last-level caches or more, they are copied out of
// slots with non-temporal stores, which do not fetch the lines of the destination. If another core
// holds a line of a slot in its private cache, a write to it takes 25 to 35 ns. In exchanges of
// pairs, a piece that is shorter than a slot is therefore written to a different place in the slot
// each time, until the pieces in between fill such a cache. 64 KB between two members then take 0.7
// of the time. Between cores without a common cache, such pieces are written with non-temporal
// stores, which takes 0.2 of the time (non_temporal_tuner.hpp).
//
// Invariant: after a member has published slots in call c, no member writes to them until the
// takers have finished call c. They are written next in call c + kStages.
//
// No member waits forever, because the earliest call under way can always proceed: to give in call
// c, a member waits only until others have finished call c - kStages, and a member gives in fewer
// than kStages calls that it has not finished. To take, it waits only until others have given in
// that call.
#pragma once

#include <span>

#include "collectives/call/call.hpp"
#include "collectives/shm/call_tools.hpp"
#include "collectives/shm/exchange_block.hpp"

namespace poe::collectives {

enum class Partners : std::uint8_t { kAll, kOne };

// True if the call can be made with these partners. Depends on the arguments only, so all members
// decide alike.
bool fits_staged(const Shape& shape, Partners partners) noexcept;

// Makes the call; blocks. `segment` has the sizes GroupSegment::staged_of(shape.n).
// `non_temporal`: the data of all members together are large for the caches (SelectedPath).
void run_staged(Partners partners, CallTools& tools, GroupSegment& segment, const Shape& shape,
                const Run& run, bool non_temporal);
// Makes an index with blocks of unequal length, `blocks` by rank, whose lengths are equal at both
// ends. `longest`: the longest block between two members; the same at all members.
void run_staged_index(Partners partners, CallTools& tools, GroupSegment& segment, Bytes longest,
                      std::span<const ExchangeBlock> blocks, bool non_temporal);

}  // namespace poe::collectives
