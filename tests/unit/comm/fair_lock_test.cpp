// The fair lock: never two threads inside, no lost wake-up, no thread that waits forever. The
// thread sanitizer checks the exclusion, because what it protects is not atomic.
#include "comm/progress/fair_lock.hpp"

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/await.hpp"

namespace poe::comm {
namespace {

constexpr unsigned kSeeds = 200;

TEST_CASE("threads exclude each other, over random schedules") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        FairLock lock;
        int inside = 0;
        long sections = 0;
        bool broken = false;
        std::mt19937 plan(seed);
        const unsigned count = 2 + plan() % 5;
        constexpr int kSections = 300;
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < count; ++t) {
            threads.emplace_back([&, t] {
                std::mt19937 random(seed * 16 + t);
                for (int i = 0; i < kSections; ++i) {
                    lock.lock();
                    broken = broken || ++inside != 1;
                    ++sections;
                    // A thread that loses its core while it has the lock.
                    if (random() % 16 == 0) std::this_thread::yield();
                    --inside;
                    lock.unlock();
                    if (random() % 8 == 0) std::this_thread::yield();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        REQUIRE_FALSE(broken);
        REQUIRE(sections == static_cast<long>(count) * kSections);
        REQUIRE_FALSE(lock.contended());
    }
}

TEST_CASE("a thread that takes the lock again and again lets the others in") {
    FairLock lock;
    std::atomic<int> entered{0};
    std::atomic<bool> stop{false};
    std::thread greedy([&] {
        while (!stop) {
            lock.lock();
            for (int i = 0; i < 1000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
            lock.unlock();
        }
    });
    std::vector<std::thread> modest;
    for (int t = 0; t < 3; ++t) {
        modest.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                lock.lock();
                ++entered;
                lock.unlock();
            }
        });
    }
    test::await([&] { return entered == 150; }, "all threads have had the lock");
    stop = true;
    greedy.join();
    for (std::thread& thread : modest) thread.join();
}

TEST_CASE("a thread in the queue is visible to the owner") {
    FairLock lock;
    lock.lock();
    std::thread other([&] {
        lock.lock();
        lock.unlock();
    });
    test::await([&] { return lock.contended(); }, "the other thread is in the queue");
    lock.unlock();
    other.join();
    REQUIRE_FALSE(lock.contended());
}

}  // namespace
}  // namespace poe::comm
