// Waiter: how a task waits for messages. A wait has up to three phases: spin, yield, sleep. A task
// sleeps on its own doorbell word in the node segment, or in a SleepPlace (a task with TCP
// connections sleeps in epoll_wait).
//
//   mode       situation                                spin      yield           sleep
//   adaptive   one core per task                        50 us     until 1 ms      after 1 ms
//   adaptive   more tasks than cores, or shared core    none      at once         after 0.3 ms
//   adaptive   the same, TCP connections only           none      at once         after 3 ms, or at once
//   poll                                                forever   never           never
//   yield                                               none      forever         never
//   sleep                                               none      never           at once
//
// A yield costs 0.5 us if another task waits for the core. A core counts as shared when several
// waits in a row outlast the spin phase and end with their first yields: another process then uses
// the core (a task bound to it, another job), whatever the task count says. The waiter occasionally
// spins again to find out whether that has changed.
//
// "TCP connections only" means that everything the task may wait for ends a sleep in its SleepPlace
// without a notification by the sender. As soon as another thread runs during a yield of such a
// task, the waiter treats the core as shared, because it cannot know which tasks of other nodes
// also use the core. If several of its yields take long, the waiter concludes that a process
// computes on the same core. It then sleeps immediately in the next waits, because the kernel
// schedules a task promptly when it wakes (yield_ban.hpp). If these waits are long, its first
// sleeps have a fixed length (naps.hpp). Such a task never polls several times in a row, because
// each of its polls is a system call.
//
// No wake-up is lost:
//   1. begin_sleep() stores `sleeping` and executes the heavy fence.
//   2. The caller polls everything that it waits for once more.
//   3. Only if nothing has arrived does sleep() wait, on the doorbell value that was read before
//      step 1.
//   4. A sender stores its message, executes the light fence, and loads `sleeping`. If it is set,
//      the sender clears it, increments the doorbell and wakes the waiter.
// The fences guarantee that the sender sees `sleeping` or the waiter sees the message
// (base/fence.hpp). A waiter that wakes for another reason clears `sleeping` itself. Every sleep
// has a time limit, because a sender may be killed between storing and waking.
//
// In a SleepPlace, `sleeping` is kAsleepOnFifo, and the sender writes a byte to the waiter's FIFO
// (wake_fifo.hpp) instead of incrementing the doorbell. The same argument holds. The byte stays in
// the FIFO, so it ends the sleep whether it comes before or after the sleep has begun. The waiter
// empties the FIFO only while it is awake, and polls after that, because the message of each byte
// was stored before the byte.
//
// A wait that lasts is published in the task's slot (base/segment/wait_notes.hpp): its start, the
// last movement, the last poll, and, requested once by note_due(), the peer.
//
// When the job is being ended (header.ending), a waiting task stops polling and waits for pmd to
// end it. If pmd does not, the task exits by itself after 10 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <sched.h>
#include <string_view>
#include <utility>

#include "base/fence.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"
#include "comm/progress/core_balancer.hpp"
#include "comm/progress/naps.hpp"
#include "comm/progress/yield_ban.hpp"

namespace poe::comm {

// A place where a task sleeps instead of on its doorbell, such as epoll_wait.
class SleepPlace {
  public:
    virtual ~SleepPlace() = default;
    // Blocks until there may be something to do (such as a byte in the task's FIFO), at most
    // `limit`.
    virtual void sleep(std::chrono::nanoseconds limit) noexcept = 0;
    // The first part of sleep(), for use by another thread. Does not block. Returns the descriptor
    // that is readable when there may be something to do. May reduce `limit`; 0 means that there is
    // something now.
    virtual int prepare_sleep(std::chrono::nanoseconds& limit) noexcept = 0;
};

// The maximum time of one sleep. A sleep is limited because a sender may be killed before its
// wake-up, and because without reliable fences a wake-up can be missed.
inline std::chrono::milliseconds longest_sleep(const Fences& fences) noexcept {
    return std::chrono::milliseconds(fences.reliable() ? 250 : 1);
}

// The first step of a sleep: publishes how to wake the task. Returns the doorbell's value before
// that.
inline std::uint32_t announce_sleep(TaskSlot& slot, SleepState how, const Fences& fences) noexcept {
    const std::uint32_t doorbell = slot.doorbell.load(std::memory_order_relaxed);
    slot.sleeping.store(how, std::memory_order_relaxed);
    fences.heavy();
    return doorbell;
}

// For one thread. The segment and all other referenced objects must outlive this object.
class Waiter {
  public:
    Waiter(SegmentHeader& header, const SegmentFacts& facts, TaskSlot& own_slot, WaitMode mode,
           const Fences& fences);

    // From now on sleep() calls look() about once per kLookAfter. look() must not throw.
    void look_around(std::function<void()> look) { around_.look = std::move(look); }

    // Makes sleeps use `place`, which must outlive this object. `wakes_for_all`: everything that
    // the task may wait for ends a sleep in `place`, without a notification by the sender.
    void sleep_in(SleepPlace& place, bool wakes_for_all) noexcept {
        place_ = &place;
        wakes_for_all_ = wakes_for_all;
    }

    // Reports every yield on a shared core to `share`, which must outlive this object.
    void balance_with(CoreBalancer& share) noexcept { core_balancer_ = &share; }

    // Waits that last publish the name of their call's context, which `name` returns.
    void name_contexts(std::function<std::string_view(std::uint32_t)> name) {
        name_of_context_ = std::move(name);
    }

    // Waits that last publish `progress`, too, which must outlive this object.
    void show_progress(const CollectiveProgress& progress) noexcept { progress_ = &progress; }

    // A new wait starts.
    void begin_wait() noexcept {
        naps_.begin_wait();
        restart();
    }
    // The wait has ended. If an exception ends it, it need not be told.
    void end_wait() noexcept {
        if (naps_.waits()) [[unlikely]]
            naps_.end_wait(Clock::now().time_since_epoch());
    }

    // The wait has made progress: the phases start again.
    void restart() noexcept {
        if (first_yields_ != 0) [[unlikely]]
            adapt();
        turns_ = 0;
        impatient_ = false;
        lasts_ = false;
        noted_ = false;
    }

    // True if the wait has lasted longer than a message between two running tasks takes.
    bool impatient() const noexcept { return impatient_; }

    // True until note() was called, in a wait that lasts.
    bool note_due() const noexcept { return lasts_ && !noted_; }
    // Publishes the awaited peer and the unexpected messages to watchers.
    void note(const Awaited& awaited, const UnexpectedView& unexpected) noexcept;

    // Publishes a wait that does not use pause() and sleep() to watchers. Call it at each poll that
    // has found nothing, including the first one after restart().
    void spent_elsewhere(const Awaited& awaited) noexcept;

    // Returns how often to poll before each pause. If every task has a core, a new wait starts with
    // a burst of polls, because even a pause instruction costs a fifth of a small message.
    unsigned looks() const noexcept {
        return bursts_ && !wakes_for_all_ && turns_ < kSpinsPerLook && !shares_core() ? kBurst : 1;
    }

    // For the start of a wait, before restart(): if tasks share cores, yields once and returns
    // true. The awaited task usually runs during this yield, so the caller should check the awaited
    // word before it does anything else: every page that it touches costs a miss of the translation
    // cache, which is empty after a switch between many tasks.
    bool yield_first() noexcept {
        const bool may = mode_ == WaitMode::kAdaptive || mode_ == WaitMode::kYield;
        if (!oversubscribed_ || !may || wakes_for_all_) return false;
        yield();
        return true;
    }

    // Spins once or yields once. Returns true when it is time to sleep instead.
    bool pause() noexcept;

    // After a nonblocking poll that found nothing: yields if tasks share cores.
    void pause_between_looks() noexcept;

    // The three steps of a sleep. The caller must poll between the first and the second. sleep()
    // blocks.
    void begin_sleep() noexcept;
    void sleep() noexcept;
    void end_sleep() noexcept;

    // For threads that wait without this object's pauses and sleeps (thread_waits.hpp). Call the
    // first in each pause; it does not return if the job is being ended. Call the second after each
    // sleep.
    void stop_if_ending() noexcept { leave_if_ending(); }
    void slept() noexcept;
    // For the same threads. They publish that something has moved; what one of them waits for; and
    // that a poll that began at `began_ms` has found nothing.
    void show_movement() noexcept { show_movement(now_ms()); }
    void show_wait(const Awaited& awaited, const UnexpectedView& unexpected) noexcept;
    void show_vain_look(std::uint32_t began_ms) noexcept { slot_.pulse.looked(began_ms); }
    // The name of a context, as name_contexts() has installed it.
    std::string_view name_of_context(std::uint32_t context) const {
        return name_of_context_ ? name_of_context_(context) : std::string_view();
    }
    // The time in milliseconds since the creation of the segment.
    std::uint32_t now_ms() const noexcept { return in_ms(Clock::now()); }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint32_t kSpinsPerLook = 64;
    static constexpr unsigned kBurst = 16;
    static constexpr std::chrono::seconds kLookAfter{1};

    // True if another process is assumed to use this core during the current wait.
    bool shares_core() const noexcept { return shared_waits_ > 0; }
    void adapt() noexcept;
    bool pause_spinning() noexcept;
    bool yield_to_busy_core() noexcept;
    void yield() const noexcept {
        ::sched_yield();
        if (core_balancer_ != nullptr) core_balancer_->yielded();
    }
    bool pause_yielding() noexcept;
    bool pause_sleeping() noexcept;
    bool pause_napping() noexcept;
    void start_clock() noexcept;
    void show_movement(std::uint32_t now_ms) noexcept;
    void look_was_vain() noexcept;
    std::uint32_t in_ms(Clock::time_point time) const noexcept;
    void leave_if_ending() noexcept;

    SegmentHeader& header_;
    TaskSlot& slot_;
    const Fences& fences_;
    // yield_first() reads the members from here to bursts_, which share a cache line if possible.
    CoreBalancer* core_balancer_ = nullptr;
    WaitMode mode_;
    bool oversubscribed_;         // more tasks than cores
    bool wakes_for_all_ = false;  // see sleep_in()
    bool bursts_;
    std::uint64_t created_ns_;
    bool impatient_ = false;
    bool lasts_ = false;
    bool noted_ = false;
    std::uint32_t turns_ = 0;
    std::uint32_t first_yields_ = 0;  // yields of this wait after its spin phase
    std::uint32_t wasted_spins_ = 0;  // waits in a row that ended with their first yields
    std::uint32_t shared_waits_ = 0;  // number of further waits that yield at once
    YieldBan yield_ban_;
    Naps naps_;
    std::uint32_t doorbell_seen_ = 0;
    SleepPlace* place_ = nullptr;  // null: the doorbell
    Clock::time_point started_;
    Clock::time_point look_began_;  // not later than the start of the last poll
    struct {
        std::function<void()> look;
        Clock::time_point last;
    } around_;
    std::function<std::string_view(std::uint32_t)> name_of_context_;
    const CollectiveProgress* progress_ = nullptr;
};

// The sender's half: wakes the owner of the slot if it sleeps. Call it after the light fence. Never
// blocks. Returns true if the owner sleeps on its FIFO, so that the caller must write to that.
[[nodiscard]] bool wake(TaskSlot& sleeper) noexcept;
[[nodiscard]] inline bool wake_if_asleep(TaskSlot& slot) noexcept {
    return slot.sleeping.load(std::memory_order_relaxed) != kAwake && wake(slot);
}

}  // namespace poe::comm
