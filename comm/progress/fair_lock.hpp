// FairLock: mutual exclusion of the threads of one process, for sections of a fraction of a
// microsecond. It is separate from RuntimeLock, which decides when a process needs it
// (MPI_THREAD_MULTIPLE).
//
// A free lock is taken with one compare-exchange. A thread that finds the lock taken spins and
// yields for a moment and then joins a queue, in which it sleeps:
//   1. The thread appends itself to the queue and sets kQueued. Only then does it look at kHeld
//      once more.
//   2. A thread that gives the lock back clears kHeld by compare-exchange if kQueued is not set. If
//      it is set, the thread also wakes the head of the queue, unless that was woken already.
//   3. The head tries to take the lock. If another thread was faster, the head sleeps again.
//   4. If the lock was given back often while a thread was the head, it is passed to the head:
//      kHeld then stays set. It is not passed earlier, because with more threads than cores the
//      lock would be idle until the head runs.
//
// No wake-up is lost. Step 1 sets kQueued before it reads kHeld, and both are bits of one word.
// Therefore either the thread of step 2 sees kQueued and wakes the head, or the thread of step 1
// sees that kHeld is clear and takes the lock. A wake-up is the word `call` of the head. The head
// resets this word before it tries to take the lock, so a wake-up that comes during the attempt
// remains.
//
// No thread starves. The queue is in the order of arrival, and step 4 limits how often other
// threads take the lock while a thread is the head.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace poe::comm {

class FairLock {
  public:
    FairLock() = default;
    FairLock(const FairLock&) = delete;
    FairLock& operator=(const FairLock&) = delete;

    // Blocks. Not recursive.
    void lock() noexcept {
        std::uint32_t free = 0;
        if (!state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) [[unlikely]]
            lock_slowly();
    }
    // Precondition: this thread has the lock.
    void unlock() noexcept {
        std::uint32_t held = kHeld;
        if (!state_.compare_exchange_strong(held, 0, std::memory_order_release)) [[unlikely]]
            unlock_slowly();
    }
    // True if threads are in the queue.
    bool contended() const noexcept {
        return (state_.load(std::memory_order_relaxed) & kQueued) != 0;
    }

    // A 32-bit word in which kHeld is set while a thread has the lock, for readers of this
    // process's memory.
    const void* word() const noexcept { return &state_; }
    enum State : std::uint32_t { kHeld = 1, kQueued = 2 };

  private:
    enum Call : std::uint32_t { kSleep = 0, kTry, kGranted };

    // A thread in the queue, on its own stack. The mutex protects all but `call`.
    struct Queued {
        std::atomic<std::uint32_t> call{kSleep};  // futex word
        int overtaken = 0;  // how often the lock was given back while this thread was the head
        Queued* next = nullptr;
    };

    bool try_to_take() noexcept;
    void lock_slowly() noexcept;
    void unlock_slowly() noexcept;
    void append(Queued& thread) noexcept;
    void remove(const Queued& thread) noexcept;

    alignas(64) std::atomic<std::uint32_t> state_{0};
    std::mutex mutex_;
    Queued* head_ = nullptr;
    Queued* tail_ = nullptr;
};

}  // namespace poe::comm
