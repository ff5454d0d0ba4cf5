// The beginning of an index with blocks of unequal length in shared memory. A member knows only the
// lengths of its own blocks, but all members must move the data in the same way. So they first
// exchange their lengths in one call of a segment, which also carries blocks that are short enough.
//
// A member's slot, from the end of the room that is used:
//   its longest block for another member, and the sum of these blocks
//   lengths    32 bits for each member: the bytes that go to it; larger ones saturate
//   blocks     one for each member, if all fit. They are as far apart as the longest one needs, so
//              that a reader finds its block without the other lengths
// In a slot for short calls, the parts that every reader needs are thus next to the word that
// publishes the slot, mostly in its cache line.
#pragma once

#include <span>

#include "collectives/shm/call_tools.hpp"
#include "collectives/shm/exchange_block.hpp"

namespace poe::collectives {

// What the members know after the exchange of lengths. All but `wrong` is the same at all members.
struct IndexLengths {
    Bytes longest = 0;   // of all blocks between two different members
    Bytes sum = 0;       // of these blocks
    bool moved = false;  // the blocks have been moved, too
    WrongBlock wrong;    // the first one for this member

    bool ok() const noexcept { return wrong.ok(); }
};

// The maximum number of members. The lengths of more would take too much of a slot.
inline constexpr std::uint32_t kMostIndexMembers = 128;

// The longest block that an exchange of lengths in a segment of these sizes carries.
Bytes longest_carried(const GroupSegment::Sizes& sizes, std::uint32_t members) noexcept;

// Exchanges the lengths, and the blocks if they are short enough for the segment; blocks. `blocks`
// has the own blocks by rank. Afterwards, no block is longer than what its giver gives or than the
// memory for it. The segment has the sizes GroupSegment::kLong or staged_of(members).
IndexLengths exchange_lengths(CallTools& tools, GroupSegment& segment,
                              std::span<ExchangeBlock> blocks);

// True if slots are a good way for blocks of these lengths: a step of a staged call takes as long
// as the longest block needs.
bool are_balanced(const IndexLengths& lengths, std::uint32_t members) noexcept;

}  // namespace poe::collectives
