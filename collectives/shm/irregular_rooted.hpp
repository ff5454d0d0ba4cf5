// Gathers and scatters in shared memory with blocks whose lengths only the root and their owners
// know (MPI_Gatherv, MPI_Scatterv). A slot for short data carries the length of each block. The
// block is in the same slot if it fits, or else in the member's slot for longer data. The caller
// sends still longer blocks as messages.
//
// A slot, from the end of its room: the length of the block; and the block, which ends at a
// multiple of eight bytes. Both are thus next to the word that publishes the slot, and a short
// block is in the same cache line.
#pragma once

#include <span>

#include "collectives/shm/call_tools.hpp"
#include "collectives/shm/exchange_block.hpp"

namespace poe::collectives {

// A block that goes between the root and another member, as one of the two sees it. The caller owns
// the memory, which may be null if the block is longer than kLongestRootedBlock.
struct RootedBlock {
    std::byte* memory = nullptr;  // what is sent, or where to put what comes
    Bytes bytes = 0;    // of what is sent, or of the memory; the call sets it to what has come
    Bytes follows = 0;  // result: the length if the block must go as a message; otherwise 0
};

inline constexpr Bytes kLongestRootedBlock = GroupSegment::kLong.room() - sizeof(Bytes);

// Both are used for one call each. Their sizes are GroupSegment::short_of() and kLong.
struct RootedSegments {
    GroupSegment& shorter;
    GroupSegment& longer;
};

// Make this member's part of a gather or a scatter; block. `blocks`: at the root those of all
// members by rank, of which its own one is left alone; at another member its own block only. No
// block is written beyond its memory. Return the first block that was too long for it.
WrongBlock gather_blocks(CallTools& tools, const RootedSegments& segments, std::uint32_t root,
                         std::span<RootedBlock> blocks);
WrongBlock scatter_blocks(CallTools& tools, const RootedSegments& segments, std::uint32_t root,
                          std::span<RootedBlock> blocks);

}  // namespace poe::collectives
