// Naps: pauses of a fixed length that a task makes in its waits while it must not yield
// (yield_ban.hpp). Pure, so that it is tested without other processes.
//
// A task that sleeps until a message arrives is scheduled for each message. If a process computes
// on its core and several tasks exchange many messages there, most of the time is spent on
// switching between them. After a nap, a task finds all messages that have arrived meanwhile, and
// it is scheduled as promptly, because it has slept. But a task that waits for a single message may
// notice it late, by the length of the nap. Therefore a nap is a part of the typical length of the
// task's waits, and if these are short, there are no naps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace poe::comm {

class Naps {
  public:
    using Time = std::chrono::nanoseconds;
    // The kernel may end a nap 50 us late, which is its tolerance for timers.
    static constexpr std::chrono::microseconds kShortest{50};
    static constexpr std::chrono::microseconds kLongest{300};
    // The parts of a typical wait, and the maximum number of naps without progress.
    static constexpr int kParts = 4;

    // A wait starts. If end_wait() was not called for the last one, that one does not count.
    void begin_wait() noexcept { waits_ = false; }
    // True between pause() and end_wait() of the same wait.
    bool waits() const noexcept { return waits_; }
    // For a pause, the `turn`-th one since the wait has started or made progress, from 0 on.
    // `now` is the time since any moment. Returns the length of the nap to make; 0: sleep until
    // something arrives.
    Time pause(Time now, std::uint32_t turn) noexcept {
        if (!waits_) began_ = now;
        waits_ = true;
        const Time nap = std::min<Time>(typical_ / kParts, kLongest);
        return turn < kParts && nap >= kShortest ? nap : Time::zero();
    }
    // The wait has ended.
    void end_wait(Time now) noexcept {
        typical_ = now - began_ > typical_ ? typical_ * kStep / (kStep - 1)
                                           : typical_ * (kStep - 1) / kStep;
        typical_ = std::clamp<Time>(typical_, kShortest, kParts * kLongest);
        waits_ = false;
    }

  private:
    // Each wait changes the median by this part.
    static constexpr int kStep = 8;

    Time typical_{kShortest};  // the median length of waits with a pause, about
    Time began_{};
    bool waits_ = false;
};

}  // namespace poe::comm
