// Memory of messages that nobody has asked for: what comes back is given out again, as new, with
// enough room, and not too much of it is kept.
#include "comm/matching/unexpected_pool.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::comm;

TEST_CASE("messages given back are used again, with the room asked for") {
    UnexpectedPool pool;
    Unexpected* first = pool.take(100);
    REQUIRE(first->data.size() >= 100);
    first->taken_in = true;
    const std::byte* data = first->data.data();
    pool.give(first);
    Unexpected* again = pool.take(120);
    CHECK(again == first);
    CHECK(again->data.data() == data);
    CHECK_FALSE(again->taken_in);
    Unexpected* other = pool.take(120);
    CHECK(other != again);
    pool.give(other);
    pool.give(again);
}

TEST_CASE("whatever comes and goes, what is taken has its room and is nobody else's") {
    std::minstd_rand random(7);
    UnexpectedPool pool;
    std::vector<Unexpected*> taken;
    for (int i = 0; i < 20000; ++i) {
        if (random() % 2 == 0 || taken.empty()) {
            const Bytes room = random() % 3 == 0 ? 0 : Bytes{1} << (random() % 18);
            Unexpected* message = pool.take(room + random() % 3);
            REQUIRE(message->data.size() >= room);
            REQUIRE(std::find(taken.begin(), taken.end(), message) == taken.end());
            taken.push_back(message);
        } else {
            const std::size_t at = random() % taken.size();
            // What has got other memory meanwhile.
            if (random() % 4 == 0) taken[at]->data.resize(random() % 70000);
            pool.give(taken[at]);
            taken[at] = taken.back();
            taken.pop_back();
        }
    }
    for (Unexpected* message : taken) pool.give(message);
}

TEST_CASE("only so much is kept") {
    UnexpectedPool pool;
    std::vector<Unexpected*> taken;
    constexpr std::size_t kMany = 2 * UnexpectedPool::kMostKept / UnexpectedPool::kLongest;
    for (std::size_t i = 0; i < kMany; ++i) taken.push_back(pool.take(UnexpectedPool::kLongest));
    for (Unexpected* message : taken) pool.give(message);
    CHECK(pool.kept() <= UnexpectedPool::kMostKept);
    CHECK(pool.kept() >= UnexpectedPool::kMostKept / 2);
}
