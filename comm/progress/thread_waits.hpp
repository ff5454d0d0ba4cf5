// ThreadWaits: how several threads of one task wait at the same time, in the shared mode of the
// runtime lock (MPI_THREAD_MULTIPLE). It is separate from Waiter, which is for one waiting thread
// per task and therefore decides faster.
//
// All members (the threads that wait) and their conditions are registered here; the turn protects
// them. A member is awake or asleep:
//   - A member that is awake takes the turn, polls for all members, wakes those whose conditions
//     are met, gives the turn up, and pauses: it spins, then yields.
//   - A member that has waited long goes to sleep. If no other member is awake and none sleeps for
//     all, it sleeps for all: on the task's doorbell or in its SleepPlace, where senders wake it.
//     Otherwise it sleeps on a futex word of its own.
//
// Invariant. Whenever no thread has the turn and a member is asleep, its condition was not met when
// the last thread that could have met it gave the turn up, and either
//   (a) a member is awake, or was woken and has not taken the turn yet, or
//   (b) a member sleeps for all, and its sleep is announced in the task's slot (wait.hpp).
// In a job of one task only this task's own calls can meet a condition, so neither is necessary.
//
// No wake-up is lost. One of three events meets a condition:
//   1. A poll, or a call of another thread. The thread that made it evaluates the conditions of all
//      members that are asleep before it gives the turn up.
//   2. A message or store of another task in case (a). The member that is awake polls again before
//      it sleeps or leaves, or else hands the duty on (below).
//   3. A message or store of another task in case (b). By the argument in wait.hpp, the sender sees
//      the announcement, or the poll after it has seen the message.
// When the last member that is awake leaves or goes to sleep on its own word, it hands its duty on.
// If a member sleeps for all on the doorbell, the leaving member renews the announcement by steps 1
// and 2 of wait.hpp, and the sleeping member stays in the kernel: the doorbell still has the value
// that it sleeps on, because only a sender that has seen an announcement changes it. Otherwise the
// leaving member wakes the oldest member that is asleep. While members are awake, the announcement
// is withdrawn, so that senders need not wake a thread that has nothing to do.
//
// Watchers see what the members wait for (base/segment/thread_waits_table.hpp). In a wait that
// lasts, the member that polls notes whether anything has changed since its last note. If nothing
// has changed, no member can go on by itself.
//
// A member returns only when it has itself found its condition met, while it has the turn. If
// another thread finds the condition met, it only wakes the member.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/segment/segment_layout.hpp"
#include "base/segment/task_activity.hpp"
#include "base/segment/thread_waits_table.hpp"
#include "base/segment/wait_notes.hpp"
#include "comm/progress/progress_sleeper.hpp"
#include "comm/progress/runtime_lock.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {

// What a member polls on behalf of all. For the thread that has the turn. May throw Error.
class PolledWork {
  public:
    virtual ~PolledWork() = default;
    // Moves what can be moved. Returns true if anything moved. Never blocks.
    virtual bool progress() = 0;
    // Continues operations that consist of several messages. Never blocks.
    virtual void help() = 0;
    // Takes announced messages into buffer memory. Returns true if there were any. Never blocks.
    virtual bool take_in_offers() = 0;
    // True if something can move that no sender will announce.
    virtual bool needs_polling() const noexcept = 0;
    // For watchers: the messages that no receive has matched, those that explain this wait first.
    virtual UnexpectedView unexpected(const Awaited& awaited) const noexcept = 0;
};

// What a thread waits for. Any thread that has the turn may evaluate it, on behalf of the waiting
// thread.
class WaitCondition {
  public:
    virtual ~WaitCondition() = default;
    // True if the wait is over. Must be cheap, must not block, and must not meet the condition of
    // another thread. May throw Error.
    virtual bool over() = 0;
    // The waiting thread calls it in waits that last: ends operations that can never complete.
    virtual void sweep() = 0;
    // For watchers: what ends the wait. Must not block. May throw.
    virtual Awaited awaited() const = 0;
};

// The call that this thread is in, for watchers. The task's slot has the call of one thread at a
// time.
TaskActivityWords& this_threads_activity() noexcept;

// All functions are for the thread that has the turn.
class ThreadWaits final : public TurnObserver {
  public:
    struct Settings {
        WaitMode mode = WaitMode::kAdaptive;
        std::uint32_t tasks = 1;  // of this node
        std::uint32_t cores = 1;
        // The longest sleep (longest_sleep in wait.hpp).
        std::chrono::nanoseconds longest = std::chrono::milliseconds(250);
        // True: senders wake this task by its doorbell only (no SleepPlace).
        bool on_doorbell = true;
        // Shows the call of a waiting thread; null: no watchers.
        TaskActivityWords* shown = nullptr;
    };
    // `sleeper` and `waiter` are null in a job of one task. All references must outlive this
    // object.
    ThreadWaits(RuntimeLock& turn, PolledWork& work, ProgressSleeper* sleeper, Waiter* waiter,
                const Settings& settings) noexcept
        : turn_(turn), work_(work), sleeper_(sleeper), waiter_(waiter), settings_(settings) {
        table_.turn = reinterpret_cast<std::uintptr_t>(turn.word());
        table_.turn_held = FairLock::kHeld;
    }

    // Blocks until the condition is met. Gives the turn up meanwhile; the caller has it again
    // afterwards, also after an exception.
    void wait(WaitCondition& condition);
    // For a call that polls once and returns: lets other threads have the turn, and yields if
    // threads share cores.
    void pause_between_looks() noexcept;
    // For a wait outside of this class: lets other threads have the turn.
    void pass() noexcept;

    // From now on senders wake this task by its SleepPlace.
    void leave_doorbell() noexcept { settings_.on_doorbell = false; }

    // What the members wait for, for readers of this process's memory. Valid as long as this
    // object.
    const ThreadWaitsTable& table() const noexcept { return table_; }

    void before_release() noexcept override;
    bool any_waits() const noexcept override { return first_ != nullptr; }

  private:
    class Member;
    class Pause;

    // True if the waiting threads of all tasks have to share cores, as far as this task knows.
    // `others`: threads of this task that also run.
    bool crowded(std::uint32_t others = 0) const noexcept {
        return settings_.tasks * (awake_ + others) > settings_.cores;
    }
    bool look(unsigned times);
    bool poll();
    void rest(bool yields) noexcept;
    void sleep(Member& self);
    void sleep_for_all(Member& self);
    void sleep_on_own_word(Member& self);
    void fell_asleep(Member& self) noexcept;
    void woke_up(Member& self) noexcept;
    void hand_on() noexcept;
    void wake_those_over() noexcept;
    void wake(Member& member) noexcept;
    void withdraw() noexcept;
    void show(Member& self) noexcept;
    bool any_over() noexcept;
    void note_vain_look(std::uint32_t began_ms) noexcept;
    void note_members() noexcept;
    WaitingThread note_of(const Member& member) const noexcept;

    RuntimeLock& turn_;
    PolledWork& work_;
    ProgressSleeper* sleeper_;
    Waiter* waiter_;
    Settings settings_;
    Member* first_ = nullptr;  // the members, oldest first
    Member* last_ = nullptr;
    std::uint32_t members_ = 0;
    std::uint32_t awake_ = 0;           // members that are awake
    Member* sleeps_for_all_ = nullptr;  // the member in ProgressSleeper::sleep(); null: none
    bool announced_ = false;            // its sleep is announced
    const Member* shown_ = nullptr;     // the member whose call watchers see in the slot
    ThreadWaitsTable table_;
    std::uint64_t seen_changes_ = 0;  // table_.changes when they were noted last
};

}  // namespace poe::comm
