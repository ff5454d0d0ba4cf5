// TraceClock: CLOCK_MONOTONIC in nanoseconds, read from the processor's time stamp counter, because
// a record reads the clock and clock_gettime takes three times as long as the counter.
//
// Used only if the kernel keeps its own time by this counter, so that it is the same on all cores
// and does not stop. Otherwise every reading is a clock_gettime.
//
// A reading extrapolates from an anchor, which is a reading of both clocks, at the rate that both
// had during the last one to two seconds. An anchor is replaced when it is older than a
// millisecond, so an adjustment of the kernel's clock is followed within a millisecond. A new
// anchor never lets the time go back.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace poe::trace {

class TraceClock {
  public:
    // Takes the first anchor. Until a rate is known, which takes a millisecond, readings are those
    // of clock_gettime.
    TraceClock() noexcept;
    TraceClock(const TraceClock&) = delete;
    TraceClock& operator=(const TraceClock&) = delete;

    // Nanoseconds of CLOCK_MONOTONIC. Any thread may call; blocks only as long as another thread
    // replaces the anchor.
    std::uint64_t now() noexcept {
#ifdef __x86_64__
        // An odd version says that the anchor is being replaced.
        const std::uint32_t version = version_.load(std::memory_order_acquire);
        const std::uint64_t since = __builtin_ia32_rdtsc() - ticks_.load(std::memory_order_acquire);
        const std::uint64_t time = nanoseconds_.load(std::memory_order_acquire) +
                                   (since * rate_.load(std::memory_order_acquire) >> kRateBits);
        const bool recent = since < longest_.load(std::memory_order_acquire);
        if (recent && version % 2 == 0 && version == version_.load(std::memory_order_relaxed))
            [[likely]]
            return time;
#endif
        return read_both();
    }

  private:
    static constexpr int kRateBits = 32;

    struct Reading {
        std::uint64_t ticks = 0;
        std::uint64_t nanoseconds = 0;
    };
    static Reading read() noexcept;
    std::uint64_t read_both() noexcept;
    void replace_anchor(const Reading& reading) noexcept;

    std::atomic<std::uint32_t> version_{0};
    std::atomic<std::uint64_t> ticks_{0};
    std::atomic<std::uint64_t> nanoseconds_{0};
    std::atomic<std::uint64_t> rate_{0};     // ns per tick, times 2^kRateBits
    std::atomic<std::uint64_t> longest_{0};  // age of an anchor in ticks; 0: no rate is known

    const bool usable_;
    std::mutex mutex_;
    // Protected by the mutex.
    Reading base_;       // from which the rate is computed
    Reading next_base_;  // replaces base_ when it is a second old
};

}  // namespace poe::trace
