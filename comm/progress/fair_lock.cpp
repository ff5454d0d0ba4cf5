// The queue of the fair lock; fair_lock.hpp has the protocol.
#include "comm/progress/fair_lock.hpp"

#include <chrono>
#include <sched.h>

#include "base/futex.hpp"
#include "base/relax.hpp"

namespace poe::comm {
namespace {

// A section lasts about 100 ns, unless its thread was interrupted or calls a function of the
// program.
constexpr int kSpins = 60;
constexpr int kYields = 2;
// The maximum number of times that other threads take the lock before the head of the queue.
constexpr int kMostOvertakings = 64;
// A sleep needs no time limit, because a thread cannot be killed without its process.
constexpr auto kNoLimit = std::chrono::hours(24);

}  // namespace

bool FairLock::try_to_take() noexcept {
    std::uint32_t now = state_.load(std::memory_order_seq_cst);
    return (now & kHeld) == 0 && state_.compare_exchange_strong(now, now | kHeld);
}

void FairLock::lock_slowly() noexcept {
    for (int turn = 0; turn < kSpins + kYields; ++turn) {
        if (try_to_take()) return;
        turn < kSpins ? relax() : static_cast<void>(::sched_yield());
    }
    Queued self;
    append(self);
    for (;;) {
        if (try_to_take()) {
            remove(self);
            return;
        }
        while (self.call.load() == kSleep) futex_wait(self.call, kSleep, kNoLimit);
        // Fails if the lock was passed to this thread meanwhile.
        std::uint32_t called = kTry;
        if (!self.call.compare_exchange_strong(called, kSleep)) return;
    }
}

void FairLock::append(Queued& thread) noexcept {
    const std::lock_guard guard(mutex_);
    (tail_ != nullptr ? tail_->next : head_) = &thread;
    tail_ = &thread;
    state_.fetch_or(kQueued);
}

void FairLock::remove(const Queued& thread) noexcept {
    const std::lock_guard guard(mutex_);
    Queued* before = nullptr;
    for (Queued* each = head_; each != &thread; each = each->next) before = each;
    (before != nullptr ? before->next : head_) = thread.next;
    if (tail_ == &thread) tail_ = before;
    if (head_ == nullptr) state_.fetch_and(~std::uint32_t{kQueued});
}

void FairLock::unlock_slowly() noexcept {
    std::atomic<std::uint32_t>* word = nullptr;
    {
        const std::lock_guard guard(mutex_);
        Queued* const head = head_;
        if (head != nullptr && head->overtaken == kMostOvertakings) {
            head_ = head->next;
            if (head_ == nullptr) {
                tail_ = nullptr;
                state_.fetch_and(~std::uint32_t{kQueued});
            }
            word = &head->call;
            word->store(kGranted);
        } else {
            state_.fetch_and(~std::uint32_t{kHeld});
            if (head == nullptr) return;
            ++head->overtaken;
            word = &head->call;
            if (word->exchange(kTry) == kTry) return;
        }
    }
    // The woken thread may already have left and its stack may be in use for something else. A
    // wake-up of such a word does no harm, because every waiter checks its word.
    ::syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace poe::comm
