// Sentry: the sleep of a progress thread in place of its computing task, until a message comes or
// the task calls MPL. It is announced and ended as a task's own sleep is (wait.hpp says why no
// message is missed): announce(), one more look, prepare(), sleep(). Apart from Waiter because the
// last of these happens without the turn: the task may call MPL meanwhile, end_sleep() and sleep
// itself.
#pragma once

#include <chrono>

#include "base/fence.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/unique_fd.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {

class Sentry {
  public:
    // `place` null: sleeps on the slot's doorbell. All must outlive it. Throws Error.
    Sentry(TaskSlot& slot, const Fences& fences, SleepPlace* place);

    // By the progress thread, in its turn. withdraw() instead of a sleep.
    void announce() noexcept;
    void withdraw() noexcept { slot_.sleeping.store(kAwake, std::memory_order_relaxed); }
    void prepare() noexcept;
    // By the progress thread, without the turn. Blocks for at most longest_sleep().
    void sleep() noexcept;

    // By the task, which has taken the turn: ends the sleep.
    void end_sleep() noexcept;

  private:
    TaskSlot& slot_;
    const Fences& fences_;
    SleepPlace* place_;
    UniqueFd call_;  // eventfd, readable once the task has called; only with a place
    std::uint32_t doorbell_seen_ = 0;
    std::chrono::nanoseconds limit_{0};
    int descriptor_ = -1;
};

}  // namespace poe::comm
