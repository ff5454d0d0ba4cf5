// The locks of windows in shared memory, taken by threads that sleep while they wait.
//
// The test tries POE_WINDOW_LOCK_SEEDS seeds, beginning with POE_WINDOW_LOCK_SEED. The seed
// determines which kind of lock each thread takes, and whether a waiting thread yields or sleeps.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "base/futex.hpp"
#include "comm/progress/wait.hpp"
#include "mpi/window/shared_lock.hpp"
#include "tests/unit/await.hpp"

using namespace poe;
using namespace poe::mpi;

namespace {

constexpr std::size_t kMostLockThreads = 4;
// In a round each thread takes the lock once. So a sleep that the last release of a round should
// have ended, and has not, is not ended by a later one.
constexpr std::uint32_t kLockRounds = 200;
constexpr auto kLockNap = std::chrono::milliseconds(250);

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Threads that play the tasks of a node. The lock guards two counters, which exclusive holders
// increment.
class LockRig {
  public:
    LockRig(bool asymmetric, std::uint64_t seed)
        : fences_(asymmetric && membarrier_available()),
          threads_(2 + seed % (kMostLockThreads - 1)) {}

    void run(std::uint64_t seed) {
        std::vector<std::thread> threads;
        for (std::size_t me = 0; me < threads_; ++me)
            threads.emplace_back([this, me, seed] { take_and_release(me, seed); });
        for (std::thread& each : threads) each.join();
    }

    std::atomic<int> broken{0};  // times that a holder was not alone as it must be
    std::atomic<int> lost{0};    // sleeps that no release has ended
    MemberControl control;

  private:
    void take_and_release(std::size_t me, std::uint64_t seed) {
        std::mt19937_64 random(seed * kMostLockThreads + me);
        for (std::uint32_t round = 1; round <= kLockRounds; ++round) {
            begin_together(round);
            const bool exclusive = random() % 2 == 0;
            take(me, exclusive, random);
            use(exclusive, random);
            if (release_lock(control, exclusive, fences_)) wake_others(me);
        }
    }

    void begin_together(std::uint32_t round) {
        const std::uint32_t all = round * static_cast<std::uint32_t>(threads_);
        begun_.fetch_add(1);
        for (int looks = 1; begun_.load() < all; ++looks)
            if (looks % 100 == 0) ::sched_yield();
    }

    // As take_shared_lock() and Waiter do it.
    void take(std::size_t me, bool exclusive, std::mt19937_64& random) {
        const auto own = static_cast<TaskId>(me);
        if (try_lock(control, exclusive, own)) return;
        control.waiting.fetch_add(1);
        if (exclusive) control.writers.fetch_add(1);
        while (!try_lock(control, exclusive, own)) {
            if (random() % 3 == 0) {
                ::sched_yield();
                continue;
            }
            if (sleep_or_take(slots_[me], exclusive, own)) break;
        }
        if (exclusive) control.writers.fetch_sub(1);
        control.waiting.fetch_sub(1);
    }

    // True if the lock was taken.
    bool sleep_or_take(TaskSlot& slot, bool exclusive, TaskId own) {
        const std::uint32_t doorbell = comm::announce_sleep(slot, kAsleepOnDoorbell, fences_);
        bool taken = try_lock(control, exclusive, own);
        if (!taken) {
            futex_wait(slot.doorbell, doorbell, kLockNap);
            const bool rang = slot.doorbell.load() != doorbell;
            taken = !rang && try_lock(control, exclusive, own);
            // The lock was free although nobody has woken this thread. One that has just released
            // it still may.
            if (taken && !rings_soon(slot, doorbell)) ++lost;
        }
        slot.sleeping.store(kAwake);
        return taken;
    }

    static bool rings_soon(const TaskSlot& slot, std::uint32_t doorbell) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (std::chrono::steady_clock::now() < deadline) {
            if (slot.doorbell.load() != doorbell) return true;
            ::sched_yield();
        }
        return false;
    }

    void use(bool exclusive, std::mt19937_64& random) {
        if (exclusive) ++first_;
        if (random() % 4 == 0) ::sched_yield();
        if (first_ != second_ + (exclusive ? 1u : 0u)) ++broken;
        if (exclusive) ++second_;
    }

    void wake_others(std::size_t me) {
        for (std::size_t other = 0; other < threads_; ++other)
            if (other != me) static_cast<void>(comm::wake_if_asleep(slots_[other]));
    }

    Fences fences_;
    std::size_t threads_;
    std::array<TaskSlot, kMostLockThreads> slots_{};
    std::atomic<std::uint32_t> begun_{0};
    std::uint32_t first_ = 0;
    std::uint32_t second_ = 0;
};

void try_window_locks(bool asymmetric) {
    const std::uint64_t first = number_from_environment("POE_WINDOW_LOCK_SEED", 1);
    const std::uint64_t seeds = number_from_environment("POE_WINDOW_LOCK_SEEDS", 100);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        LockRig rig(asymmetric, seed);
        rig.run(seed);
        INFO("POE_WINDOW_LOCK_SEED=" << seed);
        REQUIRE(rig.broken == 0);
        REQUIRE(rig.lost == 0);
        REQUIRE(rig.control.holders == 0);
        REQUIRE(rig.control.waiting == 0);
        REQUIRE(rig.control.writers == 0);
    }
}

}  // namespace

TEST_CASE("window locks exclude and wake, with ordinary fences", "[windowlock]") {
    try_window_locks(false);
}
TEST_CASE("window locks exclude and wake, with asymmetric fences", "[windowlock]") {
    try_window_locks(true);
}
