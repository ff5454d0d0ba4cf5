// Checksums of a gathered stream: whoever gathers it adds them, and readers find out with them what
// has been damaged since. In the header's page, so that a stream stays one piece:
//
//   byte 0..1023      the fields of StreamHeader; header_sum is the sum of these with itself 0
//   byte 1024..4095   one sum for each block of `block_bytes` behind the header, the last one up to
//                     the end of the padding; sums_sum is the sum of all of these bytes
//
// Sums are CRC-32 as of zlib. Long streams have longer blocks, because there is room for kMostSums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/probe/format.hpp"

namespace poe::trace {

inline constexpr std::size_t kSumsAt = 1024;
inline constexpr std::size_t kMostSums = (kHeaderBytes - kSumsAt) / sizeof(std::uint32_t);
static_assert(sizeof(StreamHeader) <= kSumsAt);

// Of the bytes behind those that `before` is the sum of.
std::uint32_t sum_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
// Up to the next multiple of a page.
constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
}
// The length of the blocks of a stream of so many bytes, padding included.
std::uint32_t block_bytes_for(std::uint64_t bytes);

using HeaderPage = std::span<std::byte, kHeaderBytes>;
using ConstHeaderPage = std::span<const std::byte, kHeaderBytes>;

void set_block_sum(HeaderPage page, std::size_t block, std::uint32_t sum);
std::uint32_t block_sum(ConstHeaderPage page, std::size_t block);
// Sets header_sum and sums_sum, when all else is there.
void seal(HeaderPage page);
// All of that for a stream in memory: its header, with `length`, and its bytes with their padding.
void add_sums(std::span<std::byte> stream);
bool fields_are_whole(ConstHeaderPage page);
bool sums_are_whole(ConstHeaderPage page);

}  // namespace poe::trace
