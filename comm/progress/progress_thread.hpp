// ProgressThread: moves messages while the task computes. How the thread and the task exclude each
// other is in turn.hpp; this file decides when the thread looks for messages.
//
//   mode          started                     looks for messages                     handlers
//   kBackground   with the first operation    after a nap without a call; then when   no
//   (default)     that is still open when     a message arrives, as long as an
//                 its call returns            operation is open
//   kInterrupts   at the start                after a nap without a call; then when   yes
//                                             a message arrives
//   kTimer        at the start                once in every interval without a call   yes
//   kOff          never
//
// A nap lasts 0.2 ms, longer each time up to 1 ms, with interrupts, and `interval` in the
// background. A task that calls MPL again and again makes its own progress, so the thread only naps
// beside it. After a nap without a call the thread looks for messages, then it sleeps as a waiting
// task does and is woken by the sender of the next message (wait.hpp); the task's next call ends
// that sleep. While the task is inside of a call for long, the thread sleeps until the task leaves
// it. In the background, the thread also sleeps while no operation is open; keep_moving() ends that
// sleep. Handlers of mpc_rcvncall run in this thread only if the program has asked for that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "comm/progress/sentry.hpp"
#include "comm/progress/turn.hpp"

namespace poe::comm {

// What the thread does in its turns.
class ProgressWork {
  public:
    virtual ~ProgressWork() = default;
    // Moves messages for a bounded time, and calls handlers if `handlers`. Answers whether anything
    // moved.
    virtual bool make_progress(bool handlers) noexcept = 0;
    // True if an operation is open that a message could end.
    virtual bool has_open_operations() const noexcept = 0;
};

// Its functions are for the task's threads.
class ProgressThread {
  public:
    enum class Mode : std::uint8_t { kOff, kBackground, kInterrupts, kTimer };
    struct Settings {
        Mode mode = Mode::kOff;
        std::chrono::microseconds delay{0};     // from the arrival of a message to the look
        std::chrono::microseconds interval{0};  // kBackground: of a nap; kTimer: between looks
    };

    // Starts it. What is given must outlive it. Throws Error when there can be no more threads.
    ProgressThread(Turn& turn, ProgressWork& work, Sentry& sentry, const Settings& settings);
    // stop() must have been called.
    ~ProgressThread();

    void set(const Settings& settings) noexcept;
    // By the task, in a call that leaves an operation open.
    void keep_moving() noexcept {
        if (idle_.load(std::memory_order_relaxed)) [[unlikely]]
            end_idleness();
    }
    // By who has the turn: this one is the last.
    void stop() noexcept;
    // Instead of the destructor, when the thread cannot be waited for: it ends with the process.
    void abandon() noexcept { thread_.detach(); }

  private:
    void run() noexcept;
    void serve();
    void nap(std::chrono::microseconds time) noexcept;
    void sleep_while_idle(std::uint32_t seen) noexcept;
    void end_idleness() noexcept;
    void notice_change() noexcept;
    Mode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
    bool calls_handlers() const noexcept { return mode() != Mode::kBackground; }
    bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

    Turn& turn_;
    ProgressWork& work_;
    Sentry& sentry_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> idle_{false};  // set by the thread in its turn, cleared by the task in a call
    std::atomic<Mode> mode_{Mode::kOff};
    std::atomic<std::int64_t> delay_us_{0};
    std::atomic<std::int64_t> interval_us_{0};
    std::atomic<std::uint32_t> changes_{0};  // futex word, for naps
    std::thread thread_;
};

}  // namespace poe::comm
