// Turn: who may touch the runtime, the thread of the task that calls MPL or the progress thread
// (progress_thread.hpp). Apart because it is a protocol of its own: the task's side is two loads, a
// store and a load per call, without an atomic read-modify-write, as a message takes but 100 ns.
//
// Two words. `held_` is the task's: 1 while it is in a call. `attention_` says why a call must look
// closer; 0 (kIdle) nearly always:
//
//   kWatching  a mark of the progress thread; the task's next call takes it away. So the mark is
//              still there after a nap only if the task has made no call meanwhile.
//   kClaimed   the progress thread has the turn, or is about to see that it may not have it.
//   kWanted    as kClaimed, and the task sleeps on this word until it is over.
//   kArmed     nobody has the turn; the progress thread sleeps until a message comes. The task's
//              next call takes it away and ends that sleep (`disarm`).
//   kParked    the task is inside for long; the progress thread sleeps until it leaves.
//   kFenced    as kIdle, where there is no membarrier(2): every call must look closer.
//
// Exclusion. To have the turn the task stores held_ = 1 and then loads attention_; the progress
// thread stores kClaimed, passes a membarrier, and then loads held_. As in base/fence.hpp one
// of the two sees the other: a task that finds kClaimed takes held_ back and waits; a progress
// thread that finds held_ takes its claim back. From kArmed both go on by compare-exchange of
// attention_, so only one of them gets on: a call that began before the progress thread armed has
// ended then, and every later one finds attention_ not 0, since the membarrier of the claim came
// before.
//
// Calls inside of turns. A handler of mpc_rcvncall may call MPL while the thread that runs it has
// the turn: calls of the thread `nested_` are parts of the present turn. It is the progress thread
// while that has the turn, and the task's while it runs handlers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace poe::comm {

class Turn {
  public:
    enum class Entry : std::uint8_t {
        kEntered,
        kNested,   // a part of the turn that this thread has
        kRefused,  // a second thread of the task, or the code that a signal interrupted
    };

    Turn() = default;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // --- for the task. May block for as long as the progress thread has the turn.
    Entry enter() noexcept {
        if (held_.load(std::memory_order_relaxed) != 0 ||
            attention_.load(std::memory_order_relaxed) != kIdle) [[unlikely]]
            return enter_slowly();
        held_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (attention_.load(std::memory_order_acquire) != kIdle) [[unlikely]]
            return go_on_slowly();
        return Entry::kEntered;
    }
    // After kEntered only.
    void leave() noexcept {
        held_.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (attention_.load(std::memory_order_relaxed) != kIdle) [[unlikely]]
            leave_slowly();
    }

    // By who has the turn: from now on its calls are nested, until unnest() with the answer.
    std::thread::id nest() noexcept { return nested_.exchange(std::this_thread::get_id()); }
    void unnest(std::thread::id before) noexcept { nested_.store(before); }

    // --- for the progress thread; one only.
    enum class Claim : std::uint8_t {
        kGranted,     // it has the turn
        kTaskCame,    // the task has called since watch()
        kTaskInside,  // the task has been in a call since watch()
    };

    // Once, before the others: finds out which fences there are. `disarm` is called by the task
    // when it ends the sleep of an armed progress thread.
    void prepare(std::function<void()> disarm);
    void watch() noexcept { attention_.store(kWatching, std::memory_order_relaxed); }
    Claim claim() noexcept;
    // After kGranted: whether the task waits for the turn.
    bool wanted() const noexcept { return attention_.load(std::memory_order_relaxed) == kWanted; }
    // After kGranted: gives the turn back.
    void release() noexcept;
    // After kGranted: gives it back until the caller's sleep is over; `sleep` is to end soon after
    // `disarm` was called. True: the turn is the caller's again. False: the task has come.
    bool rest(const std::function<void()>& sleep);
    // After kTaskInside: blocks until the task leaves, or for `limit`, or until unpark().
    void park(std::chrono::nanoseconds limit) noexcept;

    // Ends a park(); by anyone.
    void unpark() noexcept;

    // In a child process, where there is no progress thread.
    void forget_progress_thread() noexcept { attention_.store(kIdle, std::memory_order_relaxed); }

  private:
    enum Attention : std::uint32_t {
        kIdle = 0,
        kWatching,
        kClaimed,
        kWanted,
        kArmed,
        kParked,
        kFenced
    };

    Entry enter_slowly() noexcept;
    Entry go_on_slowly() noexcept;
    void leave_slowly() noexcept;
    void wait_for_claimant() noexcept;
    void heavy_fence() const noexcept;
    void give_back(std::uint32_t to) noexcept;

    alignas(64) std::atomic<std::uint32_t> held_{0};
    std::atomic<std::uint32_t> attention_{kIdle};
    std::atomic<std::thread::id> nested_{};
    std::uint32_t idle_ = kIdle;  // or kFenced
    std::function<void()> disarm_;
};

}  // namespace poe::comm
