// RingCopy: copies into a ring that another core reads, by whichever method is cheaper at present.
// It is separate because it depends on processors and not on pipes.
//
// An ordinary store must first fetch the cache line from the reader's cache. Between two cores with
// a common cache that costs little; otherwise it costs 25 to 35 ns per line, one line after the
// other. A non-temporal store needs neither the line nor the reader's time. Measured on AMD EPYC,
// 64 KiB between two cores take 5.7 us instead of 33.8; ordinary stores between two threads of one
// core take 8.0 us. Which case applies depends on where the host's scheduler places the two tasks,
// and changes while a program runs. Therefore both methods are timed with the processor's time
// stamp counter, the cheaper one is used, and the other one is tried occasionally.
//
// If ordinary stores are cheaper, a message that is not contiguous is packed directly into the
// ring. Otherwise it is packed into a buffer that stays in the first-level cache, and copied from
// there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/copy_block.hpp"
#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"
#include "comm/shm/non_temporal.hpp"

namespace poe::comm {

// For one sender. Not thread-safe.
class RingCopy {
  public:
    // Like memcpy. The copied bytes are visible to any thread that acquires a release store made
    // after this call. `fetched`: the lines of `to` have been prefetched for writing.
    void operator()(std::byte* to, const std::byte* from, Bytes n,
                    [[maybe_unused]] bool fetched = false) noexcept {
#if defined(__x86_64__)
        if (n >= kWorthTiming) {
            timed(to, from, n, fetched);
            return;
        }
#endif
        std::memcpy(to, from, n);
    }

    // The same for n bytes from position `offset` of a message, which need not be contiguous.
    void gather(std::byte* to, const BufferView& from, Bytes offset, Bytes n,
                bool fetched) noexcept {
        if (from.contiguous()) return (*this)(to, from.start() + offset, n, fetched);
        std::array<std::byte, kPacked> packed;
        for (Bytes done = 0; done < n;) {
            const Bytes piece = n - done < kPacked ? n - done : kPacked;
            if (packs_directly(piece)) {
                from.copy_out(offset + done, to + done, piece);
            } else {
                from.copy_out(offset + done, packed.data(), piece);
                (*this)(to + done, packed.data(), piece, fetched);
            }
            done += piece;
        }
    }

    // True if a copy of n bytes fetches the lines to this core, so that prefetching them helps.
    bool takes_lines([[maybe_unused]] Bytes n) const noexcept {
#if defined(__x86_64__)
        return n < kWorthTiming || !past_cache_is_cheaper();
#else
        return true;
#endif
    }

  private:
    static constexpr Bytes kWorthTiming = 2048;
    static constexpr Bytes kPacked = 4096;

#if defined(__x86_64__)
    static constexpr std::uint32_t kTimeOne = 8;    // one of this many copies is timed
    static constexpr std::uint32_t kTryOther = 64;  // copies between two trials of the other method
    static constexpr std::uint32_t kSmoothing = 4;  // weight of a new time: 1 / kSmoothing

    static constexpr std::uint64_t kMostTicks = 16 << 10;  // per KiB; upper limit of one time

    enum Way : unsigned { kOrdinary, kNonTemporal, kWays };

    // True if a piece is packed directly into the ring. False if non-temporal stores are cheaper,
    // and if the next copy is to be timed.
    bool packs_directly(Bytes n) noexcept {
        if (n < kWorthTiming) return true;
        if (past_cache_is_cheaper() || (copies_ + 1) % kTimeOne == 0) return false;
        ++copies_;
        return true;
    }

    // If the lines of `to` were prefetched, copies with ordinary stores. Otherwise uses memcpy,
    // which above 2 KB uses rep movsb, and that writes whole lines without fetching them.
    static void copy_ordinarily(std::byte* to, const std::byte* from, Bytes n,
                                bool fetched) noexcept {
        fetched ? copy_medium(to, from, n) : copy_block(to, from, n);
    }

    void timed(std::byte* to, const std::byte* from, Bytes n, bool fetched) noexcept {
        Way way = past_cache_is_cheaper() ? kNonTemporal : kOrdinary;
        if (++copies_ % kTryOther == 0) {
            way = way == kOrdinary ? kNonTemporal : kOrdinary;
        } else if (copies_ % kTimeOne != 0) {
            way == kNonTemporal ? copy_non_temporal(to, from, n)
                                : copy_ordinarily(to, from, n, fetched);
            return;
        }
        const std::uint64_t start = __builtin_ia32_rdtsc();
        if (way == kNonTemporal) {
            copy_non_temporal(to, from, n);
        } else {
            copy_ordinarily(to, from, n, fetched);
            // Stores may still wait in the store buffer for their lines; the fence includes that
            // wait.
            _mm_sfence();
        }
        const std::uint64_t ticks = (__builtin_ia32_rdtsc() - start) * 1024 / n;
        // Limits the time of a copy that was interrupted.
        const auto bounded = static_cast<std::int64_t>(ticks < kMostTicks ? ticks : kMostTicks);
        cost_[way] += (bounded - cost_[way]) / kSmoothing;
    }

    // Requires a difference of one third, because non-temporal stores leave the bytes in memory,
    // where the reader pays slightly more for them.
    bool past_cache_is_cheaper() const noexcept {
        return cost_[kNonTemporal] * 3 < cost_[kOrdinary] * 2;
    }

    std::int64_t cost_[kWays] = {0, 0};  // ticks per KiB, averaged; 0: unknown, to be tried
    std::uint32_t copies_ = 0;
#else
    static bool packs_directly(Bytes) noexcept {
        return true;
    }
#endif
};

}  // namespace poe::comm
