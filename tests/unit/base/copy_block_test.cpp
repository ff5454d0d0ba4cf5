// Copies of blocks at all positions that matter, against memmove.
#include "base/copy_block.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;

namespace {

// Room for blocks at any position in a page, filled with bytes that differ between neighbours.
std::vector<std::byte> numbered(Bytes length) {
    std::vector<std::byte> memory(length);
    for (Bytes i = 0; i < length; ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 251);
    return memory;
}

}  // namespace

TEST_CASE("rep movsb is slow if the destination is up to 31 bytes ahead within its page",
          "[copy]") {
    for (const std::uintptr_t from : {std::uintptr_t{0}, std::uintptr_t{16}, 5 * kPage - 1}) {
        for (std::uintptr_t ahead = 0; ahead < kPage; ++ahead) {
            INFO(from << " " << ahead);
            CHECK(delays_rep_movsb(from + 3 * kPage + ahead, from) == (ahead > 0 && ahead < 32));
        }
    }
}

TEST_CASE("blocks are copied completely, and nothing next to them is changed", "[copy]") {
    const std::vector<std::byte> source = numbered(8 * kPage);
    for (const Bytes length : {Bytes{0}, Bytes{1}, Bytes{63}, Bytes{64}, Bytes{1023}, Bytes{1024},
                               Bytes{1025}, kPage, kPage + 79, 3 * kPage}) {
        for (Bytes start = 0; start < 64; start += 7) {
            for (Bytes ahead = 0; ahead < 40; ++ahead) {
                std::vector<std::byte> wanted(6 * kPage, std::byte{0xee});
                std::vector<std::byte> found = wanted;
                // The same position in a page as the source, and `ahead` bytes more.
                const Bytes at = (reinterpret_cast<std::uintptr_t>(source.data()) -
                                  reinterpret_cast<std::uintptr_t>(found.data())) %
                                     kPage +
                                 start + ahead;
                std::memmove(wanted.data() + at, source.data() + start, length);
                copy_block(found.data() + at, source.data() + start, length);
                INFO(length << " bytes from " << start << ", " << ahead << " ahead");
                REQUIRE(found == wanted);
                std::fill(found.begin(), found.end(), std::byte{0xee});
                copy_by_vectors(found.data() + at, source.data() + start, length);
                REQUIRE(found == wanted);
            }
        }
    }
}

TEST_CASE("blocks that overlap are copied as by memmove", "[copy]") {
    for (const Bytes distance : {Bytes{1}, Bytes{16}, Bytes{31}, Bytes{32}, kPage, kPage + 16}) {
        for (const bool forward : {true, false}) {
            std::vector<std::byte> wanted = numbered(8 * kPage);
            std::vector<std::byte> found = wanted;
            const Bytes to = forward ? distance : 0;
            const Bytes from = forward ? 0 : distance;
            INFO(distance << (forward ? " ahead" : " behind"));
            std::memmove(wanted.data() + to, wanted.data() + from, 5 * kPage);
            copy_block(found.data() + to, found.data() + from, 5 * kPage);
            CHECK(found == wanted);
        }
    }
}
