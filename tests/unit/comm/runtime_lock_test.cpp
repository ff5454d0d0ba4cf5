// Turns of a task and its progress thread: never both, none of them for ever, whatever they do.
#include "comm/progress/runtime_lock.hpp"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

#include "base/futex.hpp"
#include "tests/unit/await.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;
using Entry = RuntimeLock::Entry;
using Claim = RuntimeLock::Claim;

constexpr int kSeeds = 400;

// What only who has the turn touches: not atomic, so that the thread sanitizer sees, too.
struct Shared {
    int inside = 0;
    long turns = 0;

    void use() {
        REQUIRE(++inside == 1);
        ++turns;
        REQUIRE(--inside == 0);
    }
};

// A progress thread whose every decision is random.
struct RandomWorker {
    RuntimeLock& turn;
    Shared& shared;
    std::atomic<bool>& stop;
    std::atomic<std::uint32_t> bell{0};
    std::atomic<int> grants{0};

    void disarm() {
        bell.fetch_add(1);
        futex_wake(bell);
    }
    void run(unsigned seed) {
        std::mt19937 random(seed);
        while (!stop) {
            turn.watch();
            for (auto spins = random() % 50; spins > 0; --spins) std::this_thread::yield();
            const Claim claim = turn.claim();
            if (claim == Claim::kTaskInside && random() % 2 == 0) turn.park(100us);
            if (claim == Claim::kGranted) serve(random);
        }
    }
    void serve(std::mt19937& random) {
        do {
            shared.use();
            ++grants;
            // Calls of a handler are parts of this turn.
            REQUIRE(turn.enter() == Entry::kNested);
            const std::uint32_t seen = bell.load();
            if (random() % 3 == 0) {
                turn.release();
                return;
            }
            if (!turn.rest([&] { futex_wait(bell, seen, 200us); })) return;
        } while (true);
    }
};

TEST_CASE("a task alone enters and leaves, and its handlers' calls are nested") {
    RuntimeLock turn;
    REQUIRE(turn.enter() == Entry::kEntered);
    REQUIRE(turn.enter() == Entry::kRefused);
    const auto before = turn.nest();
    REQUIRE(turn.enter() == Entry::kNested);
    turn.unnest(before);
    REQUIRE(turn.enter() == Entry::kRefused);
    turn.leave();
    REQUIRE(turn.enter() == Entry::kEntered);
    turn.leave();
}

TEST_CASE("a claim is granted only after a nap without a call") {
    RuntimeLock turn;
    int disarmed = 0;
    turn.prepare([&] { ++disarmed; });
    std::thread([&] {
        turn.watch();
        REQUIRE(turn.claim() == Claim::kGranted);
        turn.release();
        turn.watch();
    }).join();
    REQUIRE(turn.enter() == Entry::kEntered);
    turn.leave();
    std::thread([&] {
        REQUIRE(turn.claim() == Claim::kTaskCame);
        turn.watch();
    }).join();
    REQUIRE(turn.enter() == Entry::kEntered);
    std::thread([&] {
        REQUIRE(turn.claim() == Claim::kTaskCame);
        turn.watch();
        REQUIRE(turn.claim() == Claim::kTaskInside);
    }).join();
    turn.leave();
    REQUIRE(disarmed == 0);
}

TEST_CASE("a call ends the sleep of an armed progress thread, once") {
    RuntimeLock turn;
    int disarmed = 0;
    turn.prepare([&] { ++disarmed; });
    std::thread([&] {
        turn.watch();
        REQUIRE(turn.claim() == Claim::kGranted);
        const bool again = turn.rest([&] {
            std::thread([&] {
                REQUIRE(turn.enter() == Entry::kEntered);
                REQUIRE(disarmed == 1);
                turn.leave();
                REQUIRE(turn.enter() == Entry::kEntered);
                turn.leave();
            }).join();
        });
        REQUIRE_FALSE(again);
    }).join();
    REQUIRE(disarmed == 1);
}

TEST_CASE("a second thread of the task is refused while the first is inside") {
    RuntimeLock turn;
    turn.prepare([] {});
    REQUIRE(turn.enter() == Entry::kEntered);
    std::thread([&] { REQUIRE(turn.enter() == Entry::kRefused); }).join();
    turn.leave();
}

TEST_CASE("task and progress thread never have the turn both, over random schedules") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        RuntimeLock turn;
        Shared shared;
        std::atomic<bool> stop{false};
        RandomWorker worker{turn, shared, stop, {}, {}};
        turn.prepare([&] { worker.disarm(); });
        std::thread thread([&] { worker.run(seed); });
        std::mt19937 random(seed + 1'000'000);
        for (int call = 0; call < 40; ++call) {
            REQUIRE(turn.enter() == Entry::kEntered);
            shared.use();
            for (auto spins = random() % 8; spins > 0; --spins) std::this_thread::yield();
            turn.leave();
            // Long computations now and then: wait until the thread has had a turn.
            const int seen = worker.grants;
            if (random() % 20 == 0)
                poe::test::await([&] { return worker.grants != seen; },
                                 "the worker has had the lock");
        }
        stop = true;
        turn.unpark();
        worker.disarm();
        thread.join();
        REQUIRE(shared.turns >= 40);
    }
}

}  // namespace
}  // namespace poe::comm
