// NonTemporalTuner: decides whether a piece that another core reads is written with ordinary
// stores, which leave it in this core's caches, or with non-temporal stores, which bypass the
// caches. It is separate because it is arithmetic and is tested without calls.
//
// If two cores have a common cache, the reader gets a line from the writer's cache in 5 ns.
// Otherwise it takes 40 ns, one line after the other, whereas several lines come from memory at
// once. Measured on AMD EPYC: to swap 1 MB between two members takes 59 us with ordinary and 110 us
// with non-temporal stores if there is a common cache, and 616 and 102 us if there is none. Which
// case applies depends on where the host's scheduler places the two tasks, and changes while a
// program runs. Therefore both the writing and the reading of pieces are timed for both methods,
// and the method with the smaller sum is used. (RingCopy, whose sender does not know what its
// reader does, times the writing only.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/types.hpp"

namespace poe::collectives {

enum class Store : std::uint8_t { kOrdinary = 0, kNonTemporal = 1 };

// For one member. Not thread-safe.
class NonTemporalTuner {
  public:
    struct Pick {
        Store store;
        // timed: the caller times this piece and calls wrote(), and the next piece that it reads
        // and calls read().
        bool timed;
    };
    // Decides how to write the next piece of `bytes` bytes.
    Pick choose(Bytes bytes) noexcept {
#if defined(__x86_64__)
        if (bytes >= kWorthTiming) return choose(class_of(bytes), bytes);
#endif
        return {Store::kOrdinary, false};
    }

    // Reports how long it took to write, or to read, a piece that was written with `store`.
    void wrote(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        learn(class_of(bytes).cost_of(store).write, bytes, nanoseconds);
    }
    void read(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        learn(class_of(bytes).cost_of(store).read, bytes, nanoseconds);
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
    // nanoseconds per byte, the maximum of a sample: fetching lines one by one costs less
    static constexpr float kMost = 1;

    // Nanoseconds per byte: the mean of the last complete batch of kSamples, without its largest
    // sample. Pieces of members on the same core cost less and count like all others, but a copy
    // that was interrupted is meaningless.
    class Mean {
      public:
        float value() const noexcept { return value_; }  // 0: not known yet
        void add(float sample) noexcept {
            sum_ += sample;
            greatest_ = std::max(greatest_, sample);
            if (++count_ < kSamples) return;
            *this = Mean((sum_ - greatest_) / (kSamples - 1));
        }
        Mean() = default;

      private:
        explicit Mean(float value) noexcept : value_(value) {}
        float value_ = 0;
        float sum_ = 0;
        float greatest_ = 0;
        std::uint32_t count_ = 0;
    };
    struct Cost {
        Mean write;
        Mean read;
        float sum() const noexcept { return write.value() + read.value(); }
    };
    struct Class {
        std::array<Cost, 2> cost;
        Bytes bytes = 0;  // since the last trial began
        Bytes pause = kLeastPause;
        std::uint32_t pieces = 0;
        Cost& cost_of(Store store) noexcept { return cost[static_cast<unsigned>(store)]; }
    };

    static Pick choose(Class& of, Bytes bytes) noexcept {
        const Bytes before = of.bytes;
        of.bytes += bytes;
        if (before < 2 * kTrial) {
            const bool first = before < kTrial;
            return {first ? Store::kOrdinary : Store::kNonTemporal, before % kTrial >= kTrial / 2};
        }
        if (of.bytes >= 2 * kTrial + of.pause) {
            of.bytes = 0;
            of.pause = std::min(of.pause * 4, kMostPause);
        }
        return {cheaper(of), ++of.pieces % kTimeOne == 0};
    }
    static Store cheaper(const Class& of) noexcept {
        return of.cost[0].sum() <= of.cost[1].sum() ? Store::kOrdinary : Store::kNonTemporal;
    }
    static void learn(Mean& cost, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        cost.add(std::min(static_cast<float>(nanoseconds) / static_cast<float>(bytes), kMost));
    }
    // Four classes by length: from 2, 8, 32 and 128 KB on.
    Class& class_of(Bytes bytes) noexcept {
        const int above = (std::bit_width(bytes) - std::bit_width(kWorthTiming)) / 2;
        return classes_[static_cast<unsigned>(std::clamp(above, 0, kClasses - 1))];
    }
    static constexpr int kClasses = 4;
    std::array<Class, kClasses> classes_;
};

}  // namespace poe::collectives
