// NonTemporalTuner: whether a piece that another core takes is better written with ordinary stores,
// which leave it in this core's caches, or past them. Apart because it is arithmetic, tested
// without calls.
//
// Between two cores with a common cache the taker gets a line of this core's in 5 ns, and without
// one in 40, one after the other, where lines in memory come several at once: measured on AMD EPYC,
// 1 MB swapped by two takes 59 us with ordinary stores and 110 past the cache, or 616 and 102.
// Which case it is depends on where the host puts both, and changes while a program runs. So what
// it takes to write so, and to take what others have written so, is timed, and the cheaper way in
// sum is used. (RingCopy, whose sender does not know what its reader takes, looks at the writing
// alone.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/types.hpp"

namespace poe::collectives {

enum class Store : std::uint8_t { kOrdinary = 0, kNonTemporal = 1 };

// Of one member. Not thread-safe.
class NonTemporalTuner {
  public:
    struct Pick {
        Store store;
        bool timed;  // wrote() is to be told, and read() of the next piece taken
    };
    // How to write the next piece of that many bytes.
    Pick choose(Bytes bytes) noexcept {
#if defined(__x86_64__)
        if (bytes >= kWorthTiming) return choose(class_of(bytes), bytes);
#endif
        return {Store::kOrdinary, false};
    }

    // To write, or take, a piece that is written so took that long.
    void wrote(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        learn(class_of(bytes).cost_of(store).write, bytes, nanoseconds);
    }
    void read(Store store, Bytes bytes, std::uint64_t nanoseconds) noexcept {
        learn(class_of(bytes).cost_of(store).read, bytes, nanoseconds);
    }

  private:
    static constexpr Bytes kWorthTiming = 2048;
    static constexpr std::uint32_t kTimeOne = 8;  // of so many pieces one is timed
    // Each way is tried for so much in a row, of which the later half is timed: the first pieces
    // find the lines of the slots, 2 MB of a member, where the other way has left them. Members
    // make the same calls, so all try at the same time, and what a way takes from memory is felt by
    // all.
    static constexpr Bytes kTrial = Bytes{4} << 20;
    static constexpr Bytes kLeastPause = Bytes{16} << 20;  // from one trial to the next, at first,
    static constexpr Bytes kMostPause = Bytes{1} << 30;    // and at last
    static constexpr std::uint32_t kSamples = 8;
    static constexpr float kMost = 1;  // nanoseconds per byte; lines fetched one by one take less

    // Nanoseconds per byte, as the mean of the last kSamples without the greatest: pieces of
    // members on the same core cost less, so all count, but a copy that was interrupted says
    // nothing.
    class Mean {
      public:
        float value() const noexcept { return value_; }  // 0: not yet known
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
    // By powers of four: from 2, 4, 16 and 64 KB on.
    Class& class_of(Bytes bytes) noexcept {
        const int above = (std::bit_width(bytes) - std::bit_width(kWorthTiming)) / 2;
        return classes_[static_cast<unsigned>(std::clamp(above, 0, kClasses - 1))];
    }
    static constexpr int kClasses = 4;
    std::array<Class, kClasses> classes_;
};

}  // namespace poe::collectives
