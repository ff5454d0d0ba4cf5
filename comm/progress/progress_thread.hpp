// ProgressThread: makes progress with messages while the task computes. runtime_lock.hpp defines
// how this thread and the task exclude each other; this file defines when the thread polls.
//
//   mode          started                     polls                                  handlers
//   kBackground   by the first operation      after a nap without a call; then when   no
//   (default)     that is still open when     a message arrives, as long as an
//                 its call returns            operation is open
//   kInterrupts   at initialization           after a nap without a call; then when   yes
//                                             a message arrives
//   kTimer        at initialization           once per interval without a call        yes
//   kOff          never
//
// A nap lasts 0.2 ms in kInterrupts mode, and doubles up to 1 ms while the task keeps calling; in
// the other modes it lasts `interval`. A task that calls MPL frequently makes its own progress, so
// the thread then only naps. After a nap without a call the thread polls once. If nothing arrives,
// it sleeps as a waiting task does, and the sender of the next message wakes it (wait.hpp). The
// task's next call ends that sleep. While the task is inside one call for long, the thread sleeps
// until the task leaves it. In kBackground mode the thread also sleeps while no operation is open;
// keep_moving() ends that sleep. Handlers of mpc_rcvncall run in this thread only if the program
// has asked for that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "comm/progress/progress_sleeper.hpp"
#include "comm/progress/runtime_lock.hpp"

namespace poe::comm {

// The work of the thread while it has the turn.
class ProgressWork {
  public:
    virtual ~ProgressWork() = default;
    // Moves messages for a bounded time, and calls handlers if `handlers` is true. Returns true if
    // anything moved.
    virtual bool make_progress(bool handlers) noexcept = 0;
    // True if an operation is open that a message could complete.
    virtual bool has_open_operations() const noexcept = 0;
};

// The public functions are for the task's threads.
class ProgressThread {
  public:
    enum class Mode : std::uint8_t { kOff, kBackground, kInterrupts, kTimer };
    struct Settings {
        Mode mode = Mode::kOff;
        std::chrono::microseconds delay{0};     // from the wake-up by a message to the poll
        std::chrono::microseconds interval{0};  // kBackground: nap time; kTimer: between polls
    };

    // Starts the thread. All references must outlive this object. Throws Error if no thread can be
    // created.
    ProgressThread(RuntimeLock& turn, ProgressWork& work, ProgressSleeper& sleeper,
                   const Settings& settings);
    // Waits until the thread has ended. Precondition: stop() was called.
    ~ProgressThread();

    void set(const Settings& settings) noexcept;
    // The task calls this in every call that leaves an operation open. Ends the thread's idle
    // sleep.
    void keep_moving() noexcept {
        if (idle_.load(std::memory_order_relaxed)) [[unlikely]]
            end_idleness();
    }
    // Precondition: the caller has the turn. The thread does not get the turn again and ends. Does
    // not block.
    void stop() noexcept;
    // Replaces the wait of the destructor if the thread cannot be waited for: the thread ends with
    // the process.
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

    RuntimeLock& turn_;
    ProgressWork& work_;
    ProgressSleeper& sleeper_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> idle_{false};  // set by the thread in its turn, cleared by the task in a call
    std::atomic<Mode> mode_{Mode::kOff};
    std::atomic<std::int64_t> delay_us_{0};
    std::atomic<std::int64_t> interval_us_{0};
    std::atomic<std::uint32_t> changes_{0};  // futex word; its changes end naps
    std::thread thread_;
};

}  // namespace poe::comm
