// NonTemporalTuner: decides whether a piece that another core reads is written with ordinary
// stores, which leave it in this core's caches, or with non-temporal stores, which bypass the
// caches. It is separate because it is arithmetic and is tested without calls.
//
// If two cores have a common cache, the reader gets a line from the writer's cache in 5 ns.
// Otherwise a line takes 40 ns, and lines come one after the other, whereas several lines come from
// memory at the same time. Measured on AMD EPYC: to swap 1 MB between two members takes 59 us with
// ordinary and 110 us with non-temporal stores if there is a common cache, and 616 and 102 us if
// there is none. Which case applies depends on where the host's scheduler places the two tasks, and
// changes while a program runs. Therefore both the writing and the reading of pieces are timed for
// both methods, and the method with the smaller sum is used. (RingCopy, whose sender does not know
// what its reader does, times the writing only.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/types.hpp"

namespace poe::collectives {

enum class Store : std::uint8_t { kOrdinary, kNonTemporal };

// For one member. Not thread-safe.
class NonTemporalTuner {
  public:
    struct Pick {
        Store store;
        // True: the caller times the writing of this piece, and the reading of the next piece that
        // it reads, and reports the times by wrote() and read().
        bool timed;
    };
    // Decides how to write the next piece of `bytes` bytes.
    Pick choose([[maybe_unused]] Bytes bytes) noexcept {
#if defined(__x86_64__)
        if (bytes >= kWorthTiming) return class_of(bytes).choose(bytes);
#endif
        return {Store::kOrdinary, false};
    }

    // Reports how long it took to write, or to read, a piece that was written with `store`.
    void wrote(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        class_of(bytes).write[static_cast<unsigned>(store)].add(bytes, nanoseconds);
    }
    void read(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        class_of(bytes).read[static_cast<unsigned>(store)].add(bytes, nanoseconds);
    }

  private:
    static constexpr Bytes kWorthTiming = 2048;
    static constexpr std::uint32_t kTimeOne = 8;  // one of this number of pieces is timed
    // The bytes of a trial of each method. Only the second half is timed, because the first pieces
    // find the lines of the slots (at most 1 MB per member) where the other method has left them.
    // All members make the same calls, so all try a method at the same time. That matters because
    // the memory bandwidth that either method uses affects every member.
    static constexpr Bytes kTrial = Bytes{4} << 20;
    static constexpr Bytes kLeastPause = Bytes{16} << 20;  // bytes between trials, at first,
    static constexpr Bytes kMostPause = Bytes{1} << 30;    // and at most
    static constexpr std::uint32_t kSamples = 8;
    // The maximum of a sample, in nanoseconds per byte. Fetching lines one by one costs less.
    static constexpr float kMost = 1;

    // Nanoseconds per byte: the mean of the last complete batch of kSamples, without its largest
    // sample. The largest sample is that of a copy that was interrupted. The small samples of two
    // members on one core count.
    struct Mean {
        float value = 0;  // 0: not known yet
        float sum = 0;
        float greatest = 0;
        std::uint32_t count = 0;

        void add(Bytes bytes, std::uint64_t nanoseconds) noexcept {
            const float sample =
                std::min(static_cast<float>(nanoseconds) / static_cast<float>(bytes), kMost);
            sum += sample;
            greatest = std::max(greatest, sample);
            if (++count == kSamples) *this = {(sum - greatest) / (kSamples - 1)};
        }
    };
    struct Class {
        std::array<Mean, 2> write;
        std::array<Mean, 2> read;
        Bytes bytes = 0;  // since the last trial began
        Bytes pause = kLeastPause;
        std::uint32_t pieces = 0;

        Pick choose(Bytes next) noexcept {
            const Bytes before = bytes;
            bytes += next;
            if (before < 2 * kTrial)
                return {before < kTrial ? Store::kOrdinary : Store::kNonTemporal,
                        before % kTrial >= kTrial / 2};
            if (bytes >= 2 * kTrial + pause) {
                bytes = 0;
                pause = std::min(pause * 4, kMostPause);
            }
            const bool ordinary = write[0].value + read[0].value <= write[1].value + read[1].value;
            return {ordinary ? Store::kOrdinary : Store::kNonTemporal, ++pieces % kTimeOne == 0};
        }
    };
    // Four classes by length: from 2, 8, 32 and 128 KB on.
    Class& class_of(Bytes bytes) noexcept {
        const int above = (std::bit_width(bytes) - std::bit_width(kWorthTiming)) / 2;
        return classes_[static_cast<unsigned>(std::clamp(above, 0, kClasses - 1))];
    }
    static constexpr int kClasses = 4;
    std::array<Class, kClasses> classes_;
};

}  // namespace poe::collectives
