#include "comm/progress/yield_ban.hpp"

#include <catch2/catch.hpp>

using namespace poe::comm;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kSlice = 3ms;

// The number of waits of the ban that is active.
std::uint32_t waits_of(YieldBan ban) {
    std::uint32_t waits = 0;
    for (; ban.active(); ++waits) ban.begin_wait();
    return waits;
}
void pass(YieldBan& ban, std::uint32_t waits) {
    for (std::uint32_t i = 0; i < waits; ++i) ban.begin_wait();
}
void suspect(YieldBan& ban) {
    while (!ban.yielded(kSlice)) CHECK_FALSE(ban.active());
}

}  // namespace

TEST_CASE("yields that take long one after the other end yielding") {
    YieldBan ban;
    CHECK_FALSE(ban.yielded(kSlice));
    CHECK_FALSE(ban.yielded(kSlice));
    CHECK(ban.yielded(kSlice));
    CHECK(ban.active());
    CHECK(waits_of(ban) == YieldBan::kLeastWaits);
}

TEST_CASE("yields that do not give the core away say nothing about it") {
    YieldBan ban;
    ban.yielded(kSlice);
    ban.yielded(kSlice);
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(ban.yielded(1us));
    CHECK(ban.yielded(kSlice));
}

TEST_CASE("a long yield among short ones is no reason to sleep") {
    YieldBan ban;
    for (int i = 0; i < 1000; ++i) {
        CHECK_FALSE(ban.yielded(kSlice));
        for (int k = 0; k < 16; ++k) CHECK_FALSE(ban.yielded(200us));
    }
    // One of two is.
    int yields = 0;
    while (!ban.yielded(kSlice)) {
        ban.yielded(200us);
        REQUIRE(++yields < 10);
    }
}

TEST_CASE("yields that let several tasks send are no reason to sleep") {
    YieldBan ban;
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(ban.yielded(1900us));
    CHECK_FALSE(ban.active());
}

TEST_CASE("a ban that is soon needed again is longer, up to a limit") {
    YieldBan ban;
    suspect(ban);
    for (std::uint32_t waits = YieldBan::kLeastWaits; waits < YieldBan::kMostWaits; waits *= 2) {
        CHECK(waits_of(ban) == waits);
        pass(ban, waits + YieldBan::kSoon - 1);
        suspect(ban);
    }
    pass(ban, YieldBan::kMostWaits);
    suspect(ban);
    CHECK(waits_of(ban) == YieldBan::kMostWaits);
    pass(ban, YieldBan::kMostWaits + YieldBan::kSoon);
    suspect(ban);
    CHECK(waits_of(ban) == YieldBan::kLeastWaits);
}
