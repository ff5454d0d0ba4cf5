// Waiter: how a task waits for messages. Spins only while that can pay, then gives its core away,
// then sleeps on its own doorbell word in the node segment, or in another place that it was given
// (a task with TCP connections sleeps in epoll_wait).
//
//   adaptive  every task of the node has a core: spin 50 us, yield until 1 ms, then sleep.
//             more tasks than cores: yield at once (a hand-over costs 0.5 us), sleep after 0.3 ms.
//             The same when waits have again and again lasted until the first yields: then somebody
//             else has this core too (a task bound to it, another job), whatever the numbers say.
//             Now and then a wait spins again, to see whether that has changed. A task that can
//             sleep where all that it waits for wakes it by itself (connections only) yields for 1
//             ms; but where a yield lasts 2 ms, somebody who does not wait has this core too, and
//             the next waits sleep at once, the first time for 50 us: the kernel soon runs who
//             wakes. Such a task never looks several times in a row, since each of its looks is a
//             system call.
//   poll      spin for ever     yield   yield for ever     sleep   sleep at once
//
// Sleeping cannot miss a message: begin_sleep() stores `sleeping` and passes the heavy fence, then
// the caller looks at everything it waits for once more, and only then sleep() waits on the
// doorbell value read before. A sender stores its message, passes the light fence, loads `sleeping`
// and, if set, clears it, adds one to the doorbell and wakes. See base/fence.hpp for why one
// of the two sees the other. A sleeper clears `sleeping` itself when it wakes for another reason.
// In another place, `sleeping` says so (kAsleepOnFifo), and the waker writes a byte to the
// sleeper's FIFO (wake_fifo.hpp) where it would have rung the doorbell. The same argument holds: of
// the two one sees the other, and the byte stays in the FIFO, so it ends the sleep whether it comes
// before or after its begin. The sleeper empties the FIFO only while it is awake and looks for
// messages after that; the message of a byte that it took out was there before the byte. Every
// sleep has a time limit, so that even a sender killed between its message and its wake-up costs
// only that.
//
// A wait that lasts is made visible in the task's slot (base/segment/wait_notes.hpp): since when, when
// anything moved last, when the task looked last; and, as note_due() asks for it once, for whom.
//
// When the job is being ended (header.ending) a waiting task stops waiting for messages: it stays
// quiet for pmd to end it, and leaves by itself when that does not happen.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/fence.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"
#include "comm/progress/core_share.hpp"

namespace poe::comm {

// Where a task sleeps that cannot sleep on its doorbell.
class SleepPlace {
  public:
    virtual ~SleepPlace() = default;
    // Blocks until there may be something to do (a byte in the task's FIFO is), at most `limit`.
    virtual void sleep(std::chrono::nanoseconds limit) noexcept = 0;
    // The same in two steps, for another thread: what comes before the sleep, and the descriptor
    // that can be read when there may be something to do. `limit` may become less; 0: there is
    // something now.
    virtual int prepare_sleep(std::chrono::nanoseconds& limit) noexcept = 0;
};

// How long a sleep may last at most: a sender may have been killed before its wake-up, and without
// reliable fences a wake-up can be missed.
inline std::chrono::milliseconds longest_sleep(const Fences& fences) noexcept {
    return std::chrono::milliseconds(fences.reliable() ? 250 : 1);
}

// The first step of a sleep: tells senders how to wake the task. Answers the doorbell's value.
inline std::uint32_t announce_sleep(TaskSlot& slot, SleepState how, const Fences& fences) noexcept {
    const std::uint32_t doorbell = slot.doorbell.load(std::memory_order_relaxed);
    slot.sleeping.store(how, std::memory_order_relaxed);
    fences.heavy();
    return doorbell;
}

// For one thread. The segment must outlive it.
class Waiter {
  public:
    Waiter(SegmentHeader& header, const SegmentFacts& facts, TaskSlot& own_slot, WaitMode mode,
           const Fences& fences);

    // From now on `look` is called about once in kLookAfter of sleeping, from sleep(); it must not
    // throw.
    void look_around(std::function<void()> look) { look_around_ = std::move(look); }

    // From now on sleeps are spent there. It must outlive the waiter. `wakes_for_all`: whatever the
    // task may wait for ends a sleep there, without anybody who has to know of it.
    void sleep_in(SleepPlace& place, bool wakes_for_all) noexcept {
        place_ = &place;
        wakes_for_all_ = wakes_for_all;
    }

    // From now on it is told of each yield where tasks share cores. It must outlive the waiter.
    void spread_by(CoreShare& share) noexcept { core_share_ = &share; }

    // A new wait starts, or the one under way got something: back to the eager phase.
    void restart() noexcept {
        if (first_yields_ != 0) [[unlikely]]
            learn();
        turns_ = 0;
        impatient_ = false;
        lasts_ = false;
        noted_ = false;
    }

    // The wait has lasted longer than a message between two running tasks takes.
    bool impatient() const noexcept { return impatient_; }

    // True once in every wait that lasts: note() is to be called.
    bool note_due() const noexcept { return lasts_ && !noted_; }
    // Tells watchers what is waited for.
    void note(const Awaited& awaited, const UnexpectedView& unexpected) noexcept;

    // For a wait that is spent elsewhere (neither pause() nor sleep()), at each look that has found
    // nothing, the first one, too, after restart(): tells watchers.
    void spent_elsewhere(const Awaited& awaited) noexcept;

    // How often to look for messages before each pause: where every task has a core, a new wait
    // starts with a burst of looks, as even a pause instruction costs a fifth of a small message.
    unsigned looks() const noexcept {
        return bursts_ && !wakes_for_all_ && turns_ < kSpinsPerLook && !shares_core() ? kBurst : 1;
    }

    // Spends a moment (spin or yield). Answers true when it is time to sleep instead.
    bool pause() noexcept;

    // A look without a wait has found nothing: gives the core away where tasks share one.
    void pause_between_looks() noexcept;

    // The three steps of a sleep; look for messages between the first and the second.
    void begin_sleep() noexcept;
    void sleep() noexcept;
    void end_sleep() noexcept;

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint32_t kSpinsPerLook = 64;
    static constexpr unsigned kBurst = 16;
    static constexpr std::chrono::seconds kLookAfter{1};

    // Whether a core of its own is out of the question for the wait under way.
    bool shares_core() const noexcept { return shared_waits_ > 0; }
    void learn() noexcept;
    bool pause_spinning() noexcept;
    bool yield_to_hog() const noexcept;
    void yield() const noexcept;
    bool pause_yielding() noexcept;
    bool pause_sleeping() noexcept;
    void start_clock() noexcept;
    void look_was_vain() noexcept;
    std::uint32_t in_ms(Clock::time_point time) const noexcept;
    void leave_if_ending() noexcept;

    SegmentHeader& header_;
    TaskSlot& slot_;
    const Fences& fences_;
    std::uint64_t created_ns_;
    WaitMode mode_;
    bool crowded_;  // more tasks than cores
    bool bursts_;
    bool impatient_ = false;
    bool lasts_ = false;
    bool noted_ = false;
    std::uint32_t turns_ = 0;
    std::uint32_t first_yields_ = 0;  // of this wait, after spinning in vain
    std::uint32_t lessons_ = 0;       // waits in a row that ended with their first yields
    std::uint32_t shared_waits_ = 0;  // so many more waits yield at once
    std::uint32_t kept_away_ = 0;     // so many more waits sleep instead of yielding
    std::uint32_t doorbell_seen_ = 0;
    SleepPlace* place_ = nullptr;  // null: the doorbell
    bool wakes_for_all_ = false;   // the place does
    CoreShare* core_share_ = nullptr;
    Clock::time_point started_;
    Clock::time_point look_began_;  // or earlier
    std::function<void()> look_around_;
    Clock::time_point looked_around_;
};

// The sender's half: wakes the owner of `slot` if it sleeps. Call after the light fence. Never
// blocks. True: it sleeps where only its FIFO wakes it, so the caller must write to that.
[[nodiscard]] bool wake(TaskSlot& sleeper) noexcept;
[[nodiscard]] inline bool wake_if_asleep(TaskSlot& slot) noexcept {
    return slot.sleeping.load(std::memory_order_relaxed) != kAwake && wake(slot);
}

}  // namespace poe::comm
