// Which waits have naps, and of which length.
#include "comm/progress/naps.hpp"

#include <catch2/catch.hpp>

using namespace poe::comm;
using namespace std::chrono_literals;

namespace {

// Waits of one length, one after the other.
void wait(Naps& naps, Naps::Time length, int times = 1) {
    for (int i = 0; i < times; ++i) {
        naps.begin_wait();
        naps.pause(1s, 0);
        naps.end_wait(1s + length);
    }
}
// The length of the next nap.
Naps::Time nap_of(Naps naps, std::uint32_t turn = 0) {
    naps.begin_wait();
    return naps.pause(0s, turn);
}

}  // namespace

TEST_CASE("short waits have no naps") {
    Naps naps;
    CHECK(nap_of(naps) == 0s);
    wait(naps, 20us, 1000);
    CHECK(nap_of(naps) == 0s);
    // A wait that lasts long because a process computes is no typical one.
    for (int i = 0; i < 100; ++i) {
        wait(naps, 4ms);
        wait(naps, 20us, 10);
        CHECK(nap_of(naps) == 0s);
    }
}

TEST_CASE("a nap is a part of a typical wait") {
    Naps naps;
    wait(naps, 400us, 100);
    CHECK(nap_of(naps) >= 80us);
    CHECK(nap_of(naps) <= 120us);
    wait(naps, 100ms, 100);
    CHECK(nap_of(naps) == Naps::kLongest);
    // A few naps without progress; then sleep.
    CHECK(nap_of(naps, Naps::kParts - 1) == Naps::kLongest);
    CHECK(nap_of(naps, Naps::kParts) == 0s);
    // Not longer than a hundred waits are remembered.
    wait(naps, 20us, 100);
    CHECK(nap_of(naps) == 0s);
}

TEST_CASE("waits without a pause, and those that an exception has ended, do not count") {
    Naps naps;
    naps.begin_wait();
    CHECK_FALSE(naps.waits());
    naps.pause(0s, 0);
    CHECK(naps.waits());
    naps.begin_wait();
    CHECK_FALSE(naps.waits());
    for (int i = 0; i < 100; ++i) {
        naps.begin_wait();
        naps.pause(Naps::Time(i) * 1000000, 0);
    }
    CHECK(nap_of(naps) == 0s);
}
