// ProgressThread: moves messages while the task computes. Its turns with the task are arranged by
// turn.hpp; here is when it looks.
//
// With interrupts (MP_CSS_INTERRUPT). A task that calls MPL again and again makes its own progress,
// so the thread only naps beside it: 0.2 ms, longer each time up to 1 ms. After a nap without a
// call it looks, then sleeps as a waiting task does, woken by the sender of the next message
// (wait.hpp); the task's next call ends that. While the task is inside of a call for long, the
// thread sleeps until it leaves. So a task that communicates loses a thousandth of its time, one
// that computes none, and senders pay for waking only while it computes.
//
// By timer (MP_POLLING_INTERVAL without interrupts): one look after each interval without a call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "comm/sentry.hpp"
#include "comm/turn.hpp"

namespace poe::comm {

// What the thread does in its turns.
class ProgressWork {
  public:
    virtual ~ProgressWork() = default;
    // Moves messages and calls handlers, for a while at most. Answers whether any were.
    virtual bool make_progress() noexcept = 0;
};

// Its functions are for the task's threads.
class ProgressThread {
  public:
    struct Settings {
        bool interrupts = false;
        std::chrono::microseconds delay{0};     // of an interrupt, after a message came
        std::chrono::microseconds interval{0};  // of the timer; 0: none
    };

    // Starts it. What is given must outlive it. Throws Error when there can be no more threads.
    ProgressThread(Turn& turn, ProgressWork& work, Sentry& sentry, const Settings& settings);
    // stop() must have been called.
    ~ProgressThread();

    void set(const Settings& settings) noexcept;
    // By who has the turn: this one is the last.
    void stop() noexcept;
    // Instead of the destructor, when the thread cannot be waited for: it ends with the process.
    void abandon() noexcept { thread_.detach(); }

  private:
    void run() noexcept;
    void serve();
    void nap(std::chrono::microseconds time) noexcept;
    void notice_change() noexcept;
    bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

    Turn& turn_;
    ProgressWork& work_;
    Sentry& sentry_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> interrupts_{false};
    std::atomic<std::int64_t> delay_us_{0};
    std::atomic<std::int64_t> interval_us_{0};
    std::atomic<std::uint32_t> changes_{0};  // futex word, for naps
    std::thread thread_;
};

}  // namespace poe::comm
