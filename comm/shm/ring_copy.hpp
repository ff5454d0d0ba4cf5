// RingCopy: copies into a ring that another core reads, in the way that is cheaper at the moment.
// Apart because it knows processors and nothing of pipes.
//
// An ordinary store first has to bring the line here from the reader's cache. Between two cores
// with a common cache that costs little; between cores without, 25 to 35 ns a line, one after the
// other. A store past the cache takes neither the line nor the reader's time: measured on AMD EPYC,
// 64 KiB from core to core take 5.7 us instead of 33.8 (two cores), and 8.0 ordinary ones between
// two threads of one core. Which case it is depends on where the scheduler of the host puts both,
// and changes while a program runs. So both ways are timed by the processor's counter, the cheaper
// one is used, and the other one tried again now and then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/types.hpp"
#include "comm/shm/past_cache.hpp"

namespace poe::comm {

// Of one sender. Not thread-safe.
class RingCopy {
  public:
    // As memcpy. What was copied is visible to who sees a release store that comes later.
    void operator()(std::byte* to, const std::byte* from, Bytes n) noexcept {
#if defined(__x86_64__)
        if (n >= kWorthTiming) {
            timed(to, from, n);
            return;
        }
#endif
        std::memcpy(to, from, n);
    }

    // Whether a copy of n bytes brings the lines here, so that it helps to ask for them early.
    bool takes_lines([[maybe_unused]] Bytes n) const noexcept {
#if defined(__x86_64__)
        return n < kWorthTiming || !past_cache_is_cheaper();
#else
        return true;
#endif
    }

  private:
    static constexpr Bytes kWorthTiming = 2048;

#if defined(__x86_64__)
    static constexpr std::uint32_t kTimeOne = 8;    // of so many copies one is timed
    static constexpr std::uint32_t kTryOther = 64;  // copies between two tries of the other way
    static constexpr std::uint32_t kSmoothing = 4;  // weight of the past in the average, of 1

    static constexpr std::uint64_t kMostTicks = 16 << 10;  // per KiB

    enum Way : unsigned { kOrdinary, kPastCache, kWays };

    void timed(std::byte* to, const std::byte* from, Bytes n) noexcept {
        Way way = past_cache_is_cheaper() ? kPastCache : kOrdinary;
        if (++copies_ % kTryOther == 0) {
            way = way == kOrdinary ? kPastCache : kOrdinary;
        } else if (copies_ % kTimeOne != 0) {
            way == kPastCache ? copy_past_cache(to, from, n) : void(std::memcpy(to, from, n));
            return;
        }
        const std::uint64_t start = __rdtsc();
        if (way == kPastCache) {
            copy_past_cache(to, from, n);
        } else {
            std::memcpy(to, from, n);
            // Stores wait in the processor until their lines have come; so does this.
            _mm_sfence();
        }
        const std::uint64_t ticks = (__rdtsc() - start) * 1024 / n;
        // A copy that was interrupted says nothing.
        const auto bounded = static_cast<std::int64_t>(ticks < kMostTicks ? ticks : kMostTicks);
        cost_[way] += (bounded - cost_[way]) / kSmoothing;
    }

    // Stores past the cache leave the bytes in memory, where they cost the reader a little more.
    bool past_cache_is_cheaper() const noexcept {
        return cost_[kPastCache] * 3 < cost_[kOrdinary] * 2;
    }

    std::int64_t cost_[kWays] = {0, 0};  // ticks per KiB, averaged; 0: not yet known, so tried
    std::uint32_t copies_ = 0;
#endif
};

}  // namespace poe::comm
