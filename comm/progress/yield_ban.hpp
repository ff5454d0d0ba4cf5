// YieldBan: decides by the time that its yields have taken whether a task with TCP connections only
// should sleep instead of yielding. Pure, so that it is tested without other processes.
//
// If another process computes on the core, nearly every yield that lets it run lasts for one time
// slice of the scheduler, whereas a task that has slept is scheduled promptly. If only tasks that
// communicate share the core, few yields last that long. Sleeping until a message arrives is then
// slower than yielding, and it lengthens the yields of the other tasks, because the scheduler
// prefers tasks that have slept. Therefore one long yield is not enough to start a ban; several
// long yields that follow each other closely are. If they start one although nobody computes, naps
// (naps.hpp) keep the loss small.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace poe::comm {

class YieldBan {
  public:
    // A yield of this length or longer has given the core to another thread.
    static constexpr std::chrono::microseconds kGivenAway{20};
    // A yield of this length or longer suggests that another thread computes on the core. If the
    // other tasks on the core only send many messages each, a yield rarely lasts as long.
    static constexpr std::chrono::milliseconds kLong{2};
    // The number of waits in a ban, which doubles if the previous ban ended fewer than kSoon waits
    // ago.
    static constexpr std::uint32_t kLeastWaits = 40;
    static constexpr std::uint32_t kMostWaits = 1280;
    static constexpr std::uint32_t kSoon = 300;

    // True if this wait should sleep at once.
    bool active() const noexcept { return waits_left_ > 0; }
    // Call at the start of a wait that does not end at once.
    void begin_wait() noexcept { waits_left_ > 0 ? --waits_left_ : ++waits_since_; }
    // Reports a yield and how long it took. Returns true if a ban begins, because enough long
    // yields have followed each other.
    bool yielded(std::chrono::nanoseconds took) noexcept {
        if (took < kLong) {
            if (took >= kGivenAway && suspicion_ > 0) --suspicion_;
            return false;
        }
        suspicion_ += kWeight;
        if (suspicion_ <= kEnough) return false;
        suspicion_ = 0;
        waits_ = waits_since_ < kSoon ? std::min(2 * waits_, kMostWaits) : kLeastWaits;
        waits_left_ = waits_;
        waits_since_ = 0;
        return true;
    }

  private:
    // A long yield raises the suspicion by this number; a short one that has let another thread run
    // lowers it by one.
    static constexpr std::uint32_t kWeight = 16;
    static constexpr std::uint32_t kEnough = 2 * kWeight;

    std::uint32_t suspicion_ = 0;
    std::uint32_t waits_ = kLeastWaits / 2;  // of the last ban
    std::uint32_t waits_left_ = 0;
    std::uint32_t waits_since_ = 0;  // since the last ban
};

}  // namespace poe::comm
