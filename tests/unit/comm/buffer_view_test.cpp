// Copies without a call: every length, and nothing beside it.
#include "comm/matching/buffer_view.hpp"

#include <array>

#include <catch2/catch.hpp>

#include "comm/shm/shm_pipe.hpp"

using namespace poe::comm;
using poe::Bytes;

TEST_CASE("a small copy takes what it is told", "[buffer_view]") {
    constexpr std::byte kUntouched{0xee};
    std::array<std::byte, ShmCell::kInline> from;
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
    for (Bytes n = 0; n <= from.size(); ++n) {
        std::array<std::byte, ShmCell::kInline + 2> to;
        to.fill(kUntouched);
        copy_small(to.data() + 1, from.data(), n);
        INFO(n);
        CHECK(to.front() == kUntouched);
        CHECK(to[n + 1] == kUntouched);
        bool same = true;
        for (Bytes i = 0; i < n; ++i) same = same && to[i + 1] == from[i];
        CHECK(same);
    }
}
