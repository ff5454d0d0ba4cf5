// FetchChoice: whether a long message is better fetched out of the sender's memory by one system
// call (one copy, by one processor) or streamed through the ring (two copies, by both at once).
// Which is faster depends on the processor, on the kernel and on where the two tasks run: with
// 1 MiB fetching was measured at 0.6 of streaming on one machine and at 1.5 on another. So both are
// timed, in classes of length, and the faster is taken; the other is tried again now and then.
// Apart because it is arithmetic, tested without messages.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "comm/base/types.hpp"

namespace poe::comm {

enum class LongWay : std::uint8_t { kFetch = 0, kStream = 1 };

// Of one pipe. Not thread-safe.
class FetchChoice {
  public:
    // How to receive the next message of that many bytes.
    LongWay choose(Bytes length) noexcept {
        Class& of = class_of(length);
        const auto best = of.cost[0] <= of.cost[1] ? LongWay::kFetch : LongWay::kStream;
        if (++of.messages % kTryOther != 0) return best;
        return best == LongWay::kFetch ? LongWay::kStream : LongWay::kFetch;
    }

    // A message took that long, from the decision to its last byte.
    void took(LongWay way, Bytes length, std::uint64_t nanoseconds) noexcept {
        if (length == 0) return;
        double& cost = class_of(length).cost[static_cast<unsigned>(way)];
        const double now = static_cast<double>(nanoseconds) / static_cast<double>(length);
        // A sender that was busy elsewhere makes a time longer, never shorter: what counts is the
        // least, forgotten slowly.
        cost = now < cost || cost == 0 ? now : cost + (now - cost) / kForget;
    }

  private:
    static constexpr std::uint32_t kTryOther = 32;
    static constexpr double kForget = 16;
    static constexpr unsigned kClasses = 16;

    struct Class {
        double cost[2] = {0, 0};  // nanoseconds per byte; 0: not yet known, so tried
        std::uint32_t messages = 0;
    };
    // By powers of four: 0 B, 4 B, 16 B, ...
    Class& class_of(Bytes length) noexcept {
        const auto index = static_cast<unsigned>(std::bit_width(length)) / 2;
        return classes_[index < kClasses ? index : kClasses - 1];
    }
    std::array<Class, kClasses> classes_;
};

}  // namespace poe::comm
