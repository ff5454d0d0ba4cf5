// The clock of records: it agrees with CLOCK_MONOTONIC and never goes back, also while threads
// replace its anchor.
#include "tracer/probe/trace_clock.hpp"

#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tracer/probe/stream_file.hpp"

using poe::trace::monotonic_ns;
using poe::trace::TraceClock;

TEST_CASE("the clock of records agrees with the kernel's", "[trace_clock]") {
    constexpr std::uint64_t kAllowed = 20'000;  // a rate from one millisecond may be so wrong
    constexpr std::uint64_t kLong = 1'300'000'000;
    TraceClock clock;
    const std::uint64_t end = monotonic_ns() + kLong;
    std::uint64_t checked = 0;
    std::uint64_t interrupted = 0;
    for (std::uint64_t after = 0; after < end; ++checked) {
        const std::uint64_t before = monotonic_ns();
        const std::uint64_t time = clock.now();
        after = monotonic_ns();
        // The time lies between the two readings, whatever interrupts the thread in between.
        const bool wrong = time + kAllowed < before || time > after + kAllowed;
        if (wrong) FAIL(before << " " << time << " " << after);
        interrupted += after - before > kAllowed ? 1 : 0;
    }
    CHECK(checked > 2 * interrupted);
}

TEST_CASE("the clock of records goes forward in every thread", "[trace_clock]") {
    constexpr int kReadings = 2'000'000;
    constexpr int kThreads = 3;
    TraceClock clock;
    std::atomic<int> backwards{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            std::uint64_t last = 0;
            for (int i = 0; i < kReadings; ++i) {
                const std::uint64_t time = clock.now();
                if (time < last) ++backwards;
                last = time;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(backwards == 0);
}
