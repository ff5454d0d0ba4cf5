// Requests for the lock of a window by origins that hold or request several locks.
#include "mpi/window/lock_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::mpi;

TEST_CASE("one of several shared locks goes ahead of exclusive requests, not of a holder") {
    LockQueue queue;
    queue.request({.rank = 0});
    REQUIRE(queue.grant());
    queue.request({.rank = 1, .exclusive = true});
    queue.request({.rank = 2, .ahead = true});
    queue.request({.rank = 3, .ahead = true});
    const auto ahead = queue.grant();
    REQUIRE(ahead);
    CHECK(ahead->rank == 2);
    REQUIRE(queue.grant());
    CHECK_FALSE(queue.grant());
    for (const int rank : {0, 2, 3}) queue.release(rank);
    REQUIRE(queue.grant());
    CHECK(queue.holder() == 1);
    queue.request({.rank = 2, .ahead = true});
    CHECK_FALSE(queue.grant());
}

// Origins that lock all members, or one member exclusively, again and again; their requests and
// releases arrive in any order.
TEST_CASE("origins that lock all members never wait for each other in a circle") {
    constexpr int kTasks = 5;
    constexpr int kEpochs = 6;
    struct Origin {
        int epochs = 0;
        int target = -1;  // -1: all
        bool inside = false;
        std::array<bool, kTasks> asked{};
        int granted = 0;
    };
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        std::mt19937 random(seed);
        std::array<LockQueue, kTasks> queues;
        std::array<Origin, kTasks> origins;
        const auto wants = [](const Origin& origin, int target) {
            return origin.target < 0 || origin.target == target;
        };
        int steps = 0;
        while (std::any_of(origins.begin(), origins.end(),
                           [](const Origin& each) { return each.epochs < kEpochs; })) {
            REQUIRE(++steps < 100'000);
            const int me = static_cast<int>(random() % kTasks);
            Origin& origin = origins[static_cast<std::size_t>(me)];
            if (!origin.inside) {
                if (origin.epochs == kEpochs) continue;
                origin = {.epochs = origin.epochs,
                          .target = static_cast<int>(random() % (2 * kTasks)),
                          .inside = true};
                if (origin.target >= kTasks) origin.target = -1;
            }
            const int at = static_cast<int>(random() % kTasks);
            const auto target = static_cast<std::size_t>(at);
            if (wants(origin, at) && !origin.asked[target]) {
                origin.asked[target] = true;
                const bool all = origin.target < 0;
                queues[target].request({.rank = me, .exclusive = !all, .ahead = all});
            } else if (origin.granted == (origin.target < 0 ? kTasks : 1)) {
                for (int each = 0; each < kTasks; ++each)
                    if (wants(origin, each)) queues[static_cast<std::size_t>(each)].release(me);
                origin.inside = false;
                ++origin.epochs;
            }
            for (LockQueue& queue : queues)
                while (const auto claim = queue.grant())
                    ++origins[static_cast<std::size_t>(claim->rank)].granted;
        }
    }
}
