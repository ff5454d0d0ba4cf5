// RuntimeLock: decides which thread may use the runtime: the task's thread that calls MPL, or the
// progress thread (progress_thread.hpp). The thread that holds the lock "has the turn". The
// protocol is separate because the task's side must be cheap: a message takes only 100 ns, so a
// call costs three loads and a store and no atomic read-modify-write.
//
// There are two words. `task_holds_` belongs to the task and is 1 while the task is in a call.
// `progress_request_` is the reason why a call must take the slow path; it is nearly always kIdle
// (0):
//
//   kIdle      the task may use the fast path
//   kWatching  a mark left by the progress thread; the task's next call removes it. The mark is
//              therefore still there after a nap only if the task has made no call meanwhile.
//   kClaimed   the progress thread has the turn, or is about to find out that it cannot have it
//   kWanted    as kClaimed, and the task sleeps on this word until the progress thread is done
//   kArmed     no thread has the turn; the progress thread sleeps until a message arrives. The
//              task's next call replaces this state and ends that sleep (`disarm`).
//   kParked    the task has been in a call for long; the progress thread sleeps until it leaves
//   kFenced    as kIdle, on a system without membarrier(2): every call takes the slow path
//   kShared    forever after share(): several threads of the task may call, see below
//
// Mutual exclusion:
//   1. To take the turn, the task stores task_holds_ = 1 and then loads progress_request_.
//   2. To take the turn, the progress thread stores kClaimed, executes a membarrier, and then loads
//      task_holds_.
//   3. As in base/fence.hpp, at least one of the two sees the other. A task that finds kClaimed
//      resets task_holds_ and waits. A progress thread that finds task_holds_ withdraws its claim.
//   4. From kArmed, both sides continue with a compare-exchange of progress_request_, so only one
//      succeeds. A call that began before the progress thread armed has ended by then. Every later
//      call finds progress_request_ nonzero, because the membarrier of the claim came before.
//
// Nested calls: a handler of mpc_rcvncall may call MPL while the thread that runs it has the turn.
// Calls by the thread `nested_` are part of the current turn. `nested_` is the progress thread
// while that has the turn, and the task's thread while the task runs handlers.
//
// Shared mode (MPI_THREAD_MULTIPLE): progress_request_ rests at kShared, so that every call takes
// the slow path, and the fast path of other programs has no instruction more. The turn is then a
// FairLock with an owner. Calls that the owner makes while it has the turn, also in functions of
// the program, are nested. A thread that waits gives the turn up (thread_waits.hpp). The progress
// thread is one more thread; its claims are refused while other threads call or wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "comm/progress/fair_lock.hpp"

namespace poe::comm {

// In shared mode: what the lock reports to and asks from the object that knows the waiting threads.
class TurnObserver {
  public:
    virtual ~TurnObserver() = default;
    // A thread that has made a call is about to give the turn up. Must not block.
    virtual void before_release() noexcept = 0;
    // True if any thread waits. For the thread that has the turn.
    virtual bool any_waits() const noexcept = 0;
};

class RuntimeLock {
  public:
    enum class Entry : std::uint8_t {
        kEntered,
        kNested,  // part of the turn that this thread has already
        kRefused,  // a second thread of the task, or code that a signal interrupted; never when shared
    };

    RuntimeLock() = default;
    RuntimeLock(const RuntimeLock&) = delete;
    RuntimeLock& operator=(const RuntimeLock&) = delete;

    // --- For the task. May block while the progress thread has the turn.
    Entry enter() noexcept {
        if (task_holds_.load(std::memory_order_relaxed) != 0 ||
            progress_request_.load(std::memory_order_relaxed) != kIdle) [[unlikely]]
            return enter_slowly();
        task_holds_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (progress_request_.load(std::memory_order_acquire) != kIdle) [[unlikely]]
            return go_on_slowly();
        return Entry::kEntered;
    }
    // Precondition: enter() returned kEntered.
    void leave() noexcept {
        task_holds_.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (progress_request_.load(std::memory_order_relaxed) != kIdle) [[unlikely]]
            leave_slowly();
    }

    // For the thread that has the turn: from now on its calls are nested, until it passes the
    // returned value to unnest().
    std::thread::id nest() noexcept { return nested_.exchange(std::this_thread::get_id()); }
    void unnest(std::thread::id before) noexcept { nested_.store(before); }

    // --- Shared mode. Changes to it forever. Precondition: the caller has the turn, and no other
    // thread of the program is in a call or has called enter(). `observer` must outlive this
    // object.
    void share(TurnObserver& observer) noexcept;
    bool shared() const noexcept {
        return progress_request_.load(std::memory_order_relaxed) == kShared;
    }
    // For the thread that has the turn, in shared mode: lets other threads have the turn, and takes
    // it again. The second function blocks.
    void give_up() noexcept;
    void take_again() noexcept;
    // True if a thread that waits for the turn has gone to sleep.
    bool contended() const noexcept { return lock_.contended(); }
    // For readers of this process's memory, in shared mode: the word of the lock, and the id of the
    // progress thread, 0 if there is none.
    const void* word() const noexcept { return lock_.word(); }
    std::int32_t progress_thread() const noexcept {
        return progress_thread_.load(std::memory_order_relaxed);
    }

    // --- For the progress thread; there is only one.
    enum class Claim : std::uint8_t {
        kGranted,     // the progress thread has the turn
        kTaskCame,    // the task has made a call since watch()
        kTaskInside,  // the task has been inside a call since watch()
    };

    // Call once, before the other functions: finds out whether the system has membarrier. The task
    // calls `disarm` to end the sleep of a progress thread in state kArmed.
    void prepare(std::function<void()> disarm);
    void watch() noexcept;
    Claim claim() noexcept;
    // Precondition: the caller has the turn. True if the task waits for it.
    bool wanted() const noexcept {
        return progress_request_.load(std::memory_order_relaxed) == kWanted || contended();
    }
    // Precondition: the caller has the turn. Releases it and wakes the task if it waits.
    void release() noexcept;
    // Precondition: the caller has the turn. Gives it up and calls sleep(), which must return soon
    // after `disarm` was called. Returns true if the caller has the turn again, false if the task
    // has made a call meanwhile. Blocks.
    bool rest(const std::function<void()>& sleep);
    // After kTaskInside: blocks until the task leaves, `limit` has passed, or unpark() is called.
    // In shared mode: until no thread waits.
    void park(std::chrono::nanoseconds limit) noexcept;

    // Ends a park(). Any thread may call it; never blocks.
    void unpark() noexcept;

    // For a child process after fork, which has no progress thread.
    void forget_progress_thread() noexcept {
        progress_request_.store(kIdle, std::memory_order_relaxed);
    }

  private:
    enum Request : std::uint32_t {
        kIdle = 0,
        kWatching,
        kClaimed,
        kWanted,
        kArmed,
        kParked,
        kFenced,
        kShared
    };

    Entry enter_slowly() noexcept;
    Entry go_on_slowly() noexcept;
    Entry enter_shared() noexcept;
    void leave_shared() noexcept;
    Claim claim_shared() noexcept;
    bool rest_shared(const std::function<void()>& sleep);
    void park_shared(std::chrono::nanoseconds limit) noexcept;
    void leave_slowly() noexcept;
    void wait_for_claimant() noexcept;
    void heavy_fence() const noexcept;
    void give_back(std::uint32_t to) noexcept;

    alignas(64) std::atomic<std::uint32_t> task_holds_{0};
    std::atomic<std::uint32_t> progress_request_{kIdle};
    std::atomic<std::thread::id> nested_{};
    std::uint32_t idle_ = kIdle;  // kIdle or kFenced
    std::atomic<std::int32_t> progress_thread_{0};
    std::function<void()> disarm_;

    // Shared mode. The turn protects what is not atomic.
    FairLock lock_;
    std::atomic<const void*> owner_{nullptr};  // identifies the thread that has the turn
    TurnObserver* observer_ = nullptr;
    std::uint64_t calls_ = 0;    // calls of the program's threads
    std::uint64_t watched_ = 0;  // calls_ at the last watch(); for the progress thread
    bool armed_ = false;         // as kArmed
    std::atomic<bool> parked_{false};
    std::atomic<std::uint32_t> unparks_{0};  // futex word
};

}  // namespace poe::comm
