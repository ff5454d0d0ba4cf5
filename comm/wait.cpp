// Waiting and waking; the rules and why no wake-up is lost are in wait.hpp.
#include "comm/wait.hpp"

#include <sched.h>
#include <unistd.h>

#include "comm/base/futex.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto kSpinFor = 50us;
constexpr auto kYieldUntil = 1ms;
constexpr auto kYieldUntilCrowded = 300us;
constexpr std::uint32_t kYieldsPerLook = 8;
constexpr auto kLongestSleep = 500ms;
constexpr auto kShortestSleep = 1ms;  // where a wake-up could be missed
constexpr auto kLeaveAfter = 10s;

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

Waiter::Waiter(SegmentHeader& header, const SegmentFacts& facts, TaskSlot& own_slot, WaitMode mode,
               const Fences& fences)
    : header_(header),
      slot_(own_slot),
      fences_(fences),
      created_ns_(facts.created_ns),
      mode_(mode),
      crowded_(facts.local_tasks > facts.cpus),
      bursts_(!crowded_ && (mode == WaitMode::kAdaptive || mode == WaitMode::kPoll)) {}

// Only a wait that lasts is worth a look at the clock; it is also the moment to say since when.
void Waiter::start_clock() noexcept {
    started_ = Clock::now();
    const auto now = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(started_.time_since_epoch()).count());
    slot_.doing.stamp(static_cast<std::uint32_t>((now - created_ns_) / 1'000'000) | 1u);
}

bool Waiter::pause() noexcept {
    switch (mode_) {
        case WaitMode::kSleep:
            leave_if_ending();
            impatient_ = true;
            return true;
        case WaitMode::kPoll:
            return pause_spinning() && false;
        case WaitMode::kYield:
            return pause_yielding() && false;
        case WaitMode::kAdaptive:
            break;
    }
    return crowded_ ? pause_yielding() : pause_spinning();
}

bool Waiter::pause_spinning() noexcept {
    ++turns_;
    if (turns_ % kSpinsPerLook != 0) {
        relax();
        return false;
    }
    leave_if_ending();
    if (turns_ == kSpinsPerLook) {
        start_clock();
        return false;
    }
    const auto waited = Clock::now() - started_;
    if (waited < kSpinFor) return false;
    impatient_ = true;
    if (mode_ == WaitMode::kPoll) return false;
    // From here on every turn is a look: one yield each.
    turns_ -= 1;
    ::sched_yield();
    return waited >= kYieldUntil;
}

bool Waiter::pause_yielding() noexcept {
    ++turns_;
    ::sched_yield();
    if (turns_ % kYieldsPerLook != 0) return false;
    leave_if_ending();
    if (turns_ == kYieldsPerLook) {
        start_clock();
        return false;
    }
    const auto waited = Clock::now() - started_;
    impatient_ = waited >= kSpinFor;
    return waited >= kYieldUntilCrowded;
}

void Waiter::pause_between_looks() noexcept {
    if (crowded_ && mode_ != WaitMode::kPoll) ::sched_yield();
    leave_if_ending();
}

void Waiter::begin_sleep() noexcept {
    if (mode_ == WaitMode::kSleep && turns_++ == 0) start_clock();
    doorbell_seen_ = slot_.doorbell.load(std::memory_order_relaxed);
    slot_.sleeping.store(place_ != nullptr ? kAsleepOnFifo : kAsleepOnDoorbell,
                         std::memory_order_relaxed);
    fences_.heavy();
}

void Waiter::sleep() noexcept {
    if (header_.ending.load(std::memory_order_relaxed) == 0) {
        const std::chrono::nanoseconds limit = fences_.reliable() ? kLongestSleep : kShortestSleep;
        if (place_ != nullptr)
            place_->sleep(limit);
        else
            futex_wait(slot_.doorbell, doorbell_seen_, limit);
    }
    end_sleep();
    leave_if_ending();
    if (look_around_ && Clock::now() - looked_around_ >= kLookAfter) {
        look_around_();
        looked_around_ = Clock::now();
    }
}

void Waiter::end_sleep() noexcept {
    slot_.sleeping.store(kAwake, std::memory_order_relaxed);
}

void Waiter::leave_if_ending() noexcept {
    if (header_.ending.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    const auto deadline = Clock::now() + kLeaveAfter;
    while (Clock::now() < deadline) futex_wait(header_.ending, 1, 1s);
    ::_exit(1);
}

bool wake_if_asleep(TaskSlot& slot) noexcept {
    if (slot.sleeping.load(std::memory_order_relaxed) == kAwake) [[likely]]
        return false;
    const std::uint32_t before = slot.sleeping.exchange(kAwake, std::memory_order_acq_rel);
    if (before == kAwake) return false;
    if (before == kAsleepOnFifo) return true;
    slot.doorbell.fetch_add(1, std::memory_order_release);
    futex_wake(slot.doorbell, 1);
    return false;
}

}  // namespace poe::comm
