// ProgressSleeper: lets the progress thread sleep in place of its task while the task computes,
// until a message arrives or the task calls MPL. The sleep is announced and ended as a task's own
// sleep is (wait.hpp shows why no message is missed):
//   1. announce()
//   2. The caller polls once more. If it finds something, it calls withdraw() and omits steps 3 and
//      4.
//   3. prepare()
//   4. sleep()
// It is separate from Waiter because step 4 happens without the turn: meanwhile the task may call
// MPL, call end_sleep(), and sleep itself.
#pragma once

#include <chrono>

#include "base/fence.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/unique_fd.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {

class ProgressSleeper {
  public:
    // If `place` is null, the thread sleeps on the slot's doorbell. `longest`: the maximum time of
    // one sleep. All references must outlive this object. Throws Error if there is no free
    // descriptor.
    ProgressSleeper(TaskSlot& slot, const Fences& fences, SleepPlace* place)
        : ProgressSleeper(slot, fences, place, longest_sleep(fences)) {}
    ProgressSleeper(TaskSlot& slot, const Fences& fences, SleepPlace* place,
                    std::chrono::nanoseconds longest);

    // From now on sleeps are in `place`, which must outlive this object. For the task, which has
    // the turn. Ends a sleep on the doorbell. Throws Error if there is no free descriptor.
    void sleep_in(SleepPlace& place);

    // For the progress thread while it has the turn. Call withdraw() to cancel an announced sleep.
    void announce() noexcept;
    void withdraw() noexcept { slot_.sleeping.store(kAwake, std::memory_order_relaxed); }
    // Repeats the announcement of a thread that is in sleep(), after withdraw(). The caller polls
    // afterwards, and calls end_sleep() if it finds something. For the thread that has the turn,
    // and for a sleep on the doorbell.
    void renew() noexcept {
        slot_.sleeping.store(kAsleepOnDoorbell, std::memory_order_relaxed);
        fences_.heavy();
    }
    void prepare() noexcept;
    // For the progress thread, without the turn. Blocks for at most `longest`.
    void sleep() noexcept;

    // For the task, which has just taken the turn: ends the sleep. Does not block.
    void end_sleep() noexcept;

  private:
    void make_call_descriptor();

    TaskSlot& slot_;
    const Fences& fences_;
    SleepPlace* place_;
    bool in_place_ = false;  // of the sleep that is prepared, for sleep(), which has no turn
    const std::chrono::nanoseconds longest_;
    UniqueFd call_;  // eventfd, readable after the task has called MPL; only with a place
    std::uint32_t doorbell_seen_ = 0;
    std::chrono::nanoseconds limit_{0};
    int descriptor_ = -1;
};

}  // namespace poe::comm
