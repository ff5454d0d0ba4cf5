// HandoverChoice: decides when a blocking send of medium length offers its buffer to the receiver
// (handover.hpp) instead of copying the message into the ring. The receiver publishes for which
// lengths fetching is cheaper; the sender decides for each message. Both halves are pure
// arithmetic, tested without messages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/types.hpp"
#include "comm/matching/single_copy_tuner.hpp"

namespace poe::comm {

// The minimum length in bytes. Shorter messages never gain from a system call.
inline constexpr Bytes kLeastHandover = 8 << 10;

// A set of length classes: up to 8 KB, up to 16 KB, and so on; the last class has no upper limit.
// The boundaries are those of SingleCopyTuner.
class HandoverLengths {
  public:
    static constexpr unsigned kClasses = 8;

    HandoverLengths() = default;
    explicit HandoverLengths(std::uint32_t bits) noexcept : bits_(bits) {}
    // Precondition: length >= kLeastHandover.
    static unsigned class_of(Bytes length) noexcept {
        const auto index =
            static_cast<unsigned>(std::bit_width(length - 1) - std::bit_width(kLeastHandover - 1));
        return std::min(index, kClasses - 1);
    }
    bool has(Bytes length) const noexcept { return (bits_ >> class_of(length) & 1) != 0; }
    // Updates the class of `length` from the costs of both ways. A difference of less than 5 %
    // changes nothing, because every change costs the other task a cache miss.
    void update(Bytes length, const WayCosts& costs) noexcept {
        if (!costs.known()) return;
        const std::uint32_t bit = 1u << class_of(length);
        if (costs.fetch < 0.95 * costs.stream) bits_ |= bit;
        if (costs.fetch > 1.05 * costs.stream) bits_ &= ~bit;
    }
    std::uint32_t bits() const noexcept { return bits_; }

  private:
    std::uint32_t bits_ = 0;
};

// The sender's decisions for one pipe. Not thread-safe.
class HandoverChoice {
  public:
    // True if the next message of `length` bytes is to be offered. `cheaper` holds the lengths for
    // which the receiver has found fetching cheaper. The other way is tried a few times at the
    // start and occasionally later, so that the receiver can measure it.
    bool offer(Bytes length, HandoverLengths cheaper) noexcept {
        if (to_skip_ > 0) {
            --to_skip_;
            return false;
        }
        const std::uint32_t number = ++messages_[HandoverLengths::class_of(length)];
        const bool early = number < kTryOther && number >= 4 && std::has_single_bit(number);
        const bool try_other = early || number % kTryOther == 0;
        return cheaper.has(length) != try_other;
    }
    // The receiver took the offered message.
    void taken() noexcept { next_skip_ = kLeastSkip; }
    // The receiver was not waiting for the offered message. The next messages are not offered;
    // their number doubles each time.
    void not_taken() noexcept {
        to_skip_ = next_skip_;
        next_skip_ = std::min(2 * next_skip_, kMostSkip);
    }

  private:
    static constexpr std::uint32_t kTryOther = 32;
    static constexpr std::uint32_t kLeastSkip = 1;
    static constexpr std::uint32_t kMostSkip = 256;

    std::array<std::uint32_t, HandoverLengths::kClasses> messages_{};
    std::uint32_t to_skip_ = 0;
    std::uint32_t next_skip_ = kLeastSkip;
};

}  // namespace poe::comm
