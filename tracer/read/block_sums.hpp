// Checksums of a gathered stream. The process that gathers the stream adds them; readers use them
// to find later damage. They are in the header page, so that a stream stays in one piece:
//
//   byte 0..1023      the fields of StreamHeader; header_sum is their sum with header_sum = 0
//   byte 1024..4095   one sum per block of `block_bytes` after the header; the last block ends at
//                     the end of the padding; sums_sum is the sum of all these bytes
//
// Sums are CRC-32 as in zlib. Long streams have longer blocks, because there is room for kMostSums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/probe/format.hpp"

namespace poe::trace {

inline constexpr std::size_t kSumsAt = 1024;
inline constexpr std::size_t kMostSums = (kHeaderBytes - kSumsAt) / sizeof(std::uint32_t);
static_assert(sizeof(StreamHeader) <= kSumsAt);

// Returns the sum of `bytes`, continued from the sum `before` of the preceding bytes.
std::uint32_t sum_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
// Rounds up to a multiple of a page.
constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
}
// Returns the block length for a stream of `bytes` bytes, padding included.
std::uint32_t block_bytes_for(std::uint64_t bytes);

using HeaderPage = std::span<std::byte, kHeaderBytes>;
using ConstHeaderPage = std::span<const std::byte, kHeaderBytes>;

void set_block_sum(HeaderPage page, std::size_t block, std::uint32_t sum);
std::uint32_t block_sum(ConstHeaderPage page, std::size_t block);
// Sets header_sum and sums_sum. Call it after everything else is set.
void seal(HeaderPage page);
// Adds all sums to a stream in memory: its header, with `length` set, and its bytes with padding.
void add_sums(std::span<std::byte> stream);
bool fields_are_whole(ConstHeaderPage page);
bool sums_are_whole(ConstHeaderPage page);

}  // namespace poe::trace
