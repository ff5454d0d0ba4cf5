// Implementation of block_sums.hpp.
#include "tracer/read/block_sums.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <zlib.h>

namespace poe::trace {
namespace {

constexpr std::uint64_t kShortestBlock = std::uint64_t{64} << 10;

std::uint32_t word_at(ConstHeaderPage page, std::size_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, page.data() + at, sizeof word);
    return word;
}

void set_word(HeaderPage page, std::size_t at, std::uint32_t word) {
    std::memcpy(page.data() + at, &word, sizeof word);
}

std::uint32_t sum_of_fields(ConstHeaderPage page) {
    std::array<std::byte, kSumsAt> fields;
    std::memcpy(fields.data(), page.data(), kSumsAt);
    std::memset(fields.data() + offsetof(StreamHeader, header_sum), 0, sizeof(std::uint32_t));
    return sum_of(fields);
}

}  // namespace

std::uint32_t sum_of(std::span<const std::byte> bytes, std::uint32_t before) {
    return static_cast<std::uint32_t>(
        ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t block_bytes_for(std::uint64_t bytes) {
    std::uint64_t block = kShortestBlock;
    while (block * kMostSums < bytes) block *= 2;
    return static_cast<std::uint32_t>(block);
}

void set_block_sum(HeaderPage page, std::size_t block, std::uint32_t sum) {
    set_word(page, kSumsAt + block * sizeof sum, sum);
}

std::uint32_t block_sum(ConstHeaderPage page, std::size_t block) {
    return word_at(page, kSumsAt + block * sizeof(std::uint32_t));
}

void seal(HeaderPage page) {
    set_word(page, offsetof(StreamHeader, sums_sum), sum_of(page.subspan(kSumsAt)));
    set_word(page, offsetof(StreamHeader, header_sum), sum_of_fields(page));
}

void add_sums(std::span<std::byte> stream) {
    const HeaderPage page = stream.first<kHeaderBytes>();
    const std::span<const std::byte> body = stream.subspan(kHeaderBytes);
    const std::uint32_t block = block_bytes_for(body.size());
    set_word(page, offsetof(StreamHeader, block_bytes), block);
    for (std::size_t at = 0; at < body.size(); at += block)
        set_block_sum(page, at / block,
                      sum_of(body.subspan(at, std::min<std::size_t>(block, body.size() - at))));
    seal(page);
}

bool fields_are_whole(ConstHeaderPage page) {
    return word_at(page, offsetof(StreamHeader, header_sum)) == sum_of_fields(page);
}

bool sums_are_whole(ConstHeaderPage page) {
    return word_at(page, offsetof(StreamHeader, sums_sum)) == sum_of(page.subspan(kSumsAt));
}

}  // namespace poe::trace
