// The barrier with one task; with more see tests/multiproc/mpl_semantics.c.
#include "collectives/sync.hpp"

#include <mpproto.h>

#include <catch2/catch.hpp>

TEST_CASE("one task synchronises with itself at once") {
    poe::comm::MessageLayer alone({0, 1, 100, 100'000}, {}, nullptr, nullptr);
    poe::TaskId peer = -1;
    CHECK(poe::collectives::sync_all(alone, 0, 1, peer) == poe::comm::Outcome::kDone);
    CHECK(alone.unexpected_messages() == 0);
}

TEST_CASE("only the group of all tasks is known") {
    CHECK(mpc_sync(ALLGRP) == 0);
    CHECK(mpc_sync(5) == -1);
    CHECK(mperrno == 108);
}
