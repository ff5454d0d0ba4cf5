// YieldBan: whether a task with TCP connections only should sleep instead of yielding, as judged by how long its
// yields have taken. Pure, so that it is tested without other processes.
//
// If another process computes on the core, nearly every yield that gives the core away lasts a slice of the
// scheduler, whereas a task that sleeps is scheduled promptly when a message arrives. If the core is only shared with
// tasks that communicate, few yields last so long. To sleep is then slower than to yield. It also makes the yields of
// other tasks longer, because the scheduler prefers tasks that have slept. So one long yield is no reason, but some that
// follow each other closely are.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace poe::comm {

class YieldBan {
  public:
    // A yield of this length or longer has given the core to another thread.
    static constexpr std::chrono::microseconds kGivenAway{20};
    // A yield of this length or longer suggests that another thread computes on the core.
    static constexpr std::chrono::milliseconds kLong{2};
    // The number of waits of a ban; twice as many each time if the last ban has ended fewer than kLeastWaits ago.
    static constexpr std::uint32_t kLeastWaits = 300;
    static constexpr std::uint32_t kMostWaits = 1200;

    // True if this wait should sleep at once.
    bool active() const noexcept { return waits_left_ > 0; }
    // A wait that does not end at once begins.
    void begin_wait() noexcept { waits_left_ > 0 ? --waits_left_ : ++waits_since_; }
    // A yield has ended. Returns true if it is the last of enough long ones, so that a ban begins.
    bool yielded(std::chrono::nanoseconds took) noexcept {
        if (took < kLong) {
            if (took >= kGivenAway && suspicion_ > 0) --suspicion_;
            return false;
        }
        suspicion_ += kWeight;
        if (suspicion_ <= kEnough) return false;
        suspicion_ = 0;
        waits_ = waits_since_ < kLeastWaits ? std::min(2 * waits_, kMostWaits) : kLeastWaits;
        waits_left_ = waits_;
        waits_since_ = 0;
        return true;
    }

  private:
    // A long yield counts as much as so many that have given the core away for a short time.
    static constexpr std::uint32_t kWeight = 16;
    static constexpr std::uint32_t kEnough = 2 * kWeight;

    std::uint32_t suspicion_ = 0;
    std::uint32_t waits_ = kLeastWaits / 2;  // of the last ban
    std::uint32_t waits_left_ = 0;
    std::uint32_t waits_since_ = 0;  // since the last ban
};

}  // namespace poe::comm
