// Waiting and wake-ups; wait.hpp has the rules and shows that no wake-up is lost.
#include "comm/progress/wait.hpp"

#include <ctime>
#include <sched.h>
#include <unistd.h>

#include "base/futex.hpp"
#include "base/relax.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto kSpinFor = 50us;
constexpr auto kYieldUntil = 1ms;
constexpr auto kYieldUntilCrowded = 300us;
constexpr auto kYieldUntilConnected = 3ms;  // in a task that waits for TCP connections only
constexpr std::uint32_t kYieldsPerLook = 8;
// When to conclude that another process shares this core.
constexpr std::uint32_t kFirstYields = 2;
constexpr std::uint32_t kLessons = 3;
constexpr std::uint32_t kSharedWaits = 1000;
constexpr auto kLeaveAfter = 10s;

}  // namespace

Waiter::Waiter(SegmentHeader& header, const SegmentFacts& facts, TaskSlot& own_slot, WaitMode mode,
               const Fences& fences)
    : header_(header),
      slot_(own_slot),
      fences_(fences),
      mode_(mode),
      oversubscribed_(facts.oversubscribed()),
      bursts_(!oversubscribed_ && (mode == WaitMode::kAdaptive || mode == WaitMode::kPoll)),
      created_ns_(facts.created_ns) {}

std::uint32_t Waiter::in_ms(Clock::time_point time) const noexcept {
    const auto ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
    return static_cast<std::uint32_t>((ns - created_ns_) / 1'000'000);
}

// Called only in a wait that lasts, because to read the clock takes time. The start of the wait is
// published at the same time.
void Waiter::start_clock() noexcept {
    started_ = look_began_ = Clock::now();
    const std::uint32_t now = in_ms(started_);
    show_movement(now);
    slot_.doing.stamp(now | 1u);
}

// Clears what the slot says of an earlier wait.
void Waiter::show_movement(std::uint32_t now_ms) noexcept {
    slot_.pulse.moved(now_ms);
    slot_.awaited.clear();
    slot_.context_name.write("");
}

void Waiter::note(const Awaited& awaited, const UnexpectedView& unexpected) noexcept {
    noted_ = true;
    Awaited shown = awaited;
    if (progress_ != nullptr) shown.progress = *progress_;
    show_wait(shown, unexpected);
}

void Waiter::show_wait(const Awaited& awaited, const UnexpectedView& unexpected) noexcept {
    const std::string_view name = name_of_context(slot_.doing.read().context);
    slot_.context_name.write(name.empty() ? "" : name);  // not from a null pointer
    slot_.awaited.set(awaited);
    slot_.unexpected.write(unexpected);
}

// Publishes that a poll that began at look_began_ or later has found nothing.
void Waiter::look_was_vain() noexcept {
    if (noted_) slot_.pulse.looked(in_ms(look_began_));
}

void Waiter::spent_elsewhere(const Awaited& awaited) noexcept {
    leave_if_ending();
    look_was_vain();
    if (turns_++ == 0) {
        start_clock();
        note(awaited, {});
    }
    look_began_ = Clock::now();
}

// Called at the end of a wait that has yielded: after its spin phase, or at once because the core
// is shared.
void Waiter::adapt() noexcept {
    if (shares_core()) {
        // After the last wait that yields at once, a single wait that outlasts its spin phase shows
        // that the core is still shared.
        if (--shared_waits_ == 0) wasted_spins_ = kLessons - 1;
    } else if (first_yields_ > kFirstYields) {
        wasted_spins_ = 0;
    } else if (++wasted_spins_ >= kLessons) {
        shared_waits_ = kSharedWaits;
    }
    first_yields_ = 0;
}

bool Waiter::pause() noexcept {
    switch (mode_) {
        case WaitMode::kSleep:
            impatient_ = lasts_ = true;
            return pause_sleeping();
        case WaitMode::kPoll:
            return pause_spinning() && false;
        case WaitMode::kYield:
            return pause_yielding() && false;
        case WaitMode::kAdaptive:
            break;
    }
    if (shares_core()) first_yields_ = 1;
    const bool may_yield = !yield_ban_.active();
    if (turns_ == 0) yield_ban_.begin_wait();
    if (!shares_core() && !oversubscribed_) return pause_spinning();
    return may_yield ? pause_yielding() : pause_napping();
}

bool Waiter::pause_sleeping() noexcept {
    leave_if_ending();
    impatient_ = true;
    if (turns_++ == 0) {
        start_clock();
        return true;
    }
    look_began_ = Clock::now();
    lasts_ = look_began_ - started_ >= kYieldUntilCrowded;
    return true;
}

// Naps, or returns true.
bool Waiter::pause_napping() noexcept {
    const auto nap = naps_.pause(Clock::now().time_since_epoch(), turns_);
    pause_sleeping();
    if (nap == nap.zero()) return true;
    look_was_vain();
    const timespec length{0, nap.count()};
    ::nanosleep(&length, nullptr);
    return false;
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
    const auto now = Clock::now();
    const auto waited = now - started_;
    if (waited < kSpinFor) return false;
    impatient_ = true;
    lasts_ = waited >= kYieldUntil;
    if (wakes_for_all_ && first_yields_ > 0 && now - look_began_ >= YieldBan::kGivenAway)
        shared_waits_ = kSharedWaits;
    look_was_vain();
    look_began_ = now;
    if (mode_ == WaitMode::kPoll) return false;
    ++first_yields_;
    // From here on the caller polls after each yield.
    turns_ -= 1;
    ::sched_yield();
    return lasts_;
}

// Yields. Returns true if this task should sleep instead, because a thread computes on the core.
bool Waiter::yield_to_busy_core() noexcept {
    if (!wakes_for_all_ || mode_ != WaitMode::kAdaptive) {
        yield();
        return false;
    }
    const auto before = Clock::now();
    yield();
    return yield_ban_.yielded(Clock::now() - before);
}

[[gnu::hot]] bool Waiter::pause_yielding() noexcept {
    ++turns_;
    if (yield_to_busy_core()) {
        turns_ = 0;  // the next pause sleeps
        return false;
    }
    if (turns_ % kYieldsPerLook != 0) return false;
    leave_if_ending();
    if (turns_ == kYieldsPerLook) {
        start_clock();
        return false;
    }
    const auto now = Clock::now();
    const auto waited = now - started_;
    impatient_ = waited >= kSpinFor;
    lasts_ = waited >= (wakes_for_all_ ? kYieldUntilConnected : kYieldUntilCrowded);
    look_was_vain();
    look_began_ = now;
    return lasts_;
}

void Waiter::pause_between_looks() noexcept {
    if (oversubscribed_ && mode_ != WaitMode::kPoll) yield();
    leave_if_ending();
}

void Waiter::begin_sleep() noexcept {
    if (wakes_for_all_) return;
    doorbell_seen_ =
        announce_sleep(slot_, place_ != nullptr ? kAsleepOnFifo : kAsleepOnDoorbell, fences_);
}

void Waiter::sleep() noexcept {
    look_was_vain();
    if (header_.ending.load(std::memory_order_relaxed) == 0) {
        const std::chrono::nanoseconds limit = longest_sleep(fences_);
        if (place_ != nullptr)
            place_->sleep(limit);
        else
            futex_wait(slot_.doorbell, doorbell_seen_, limit);
    }
    end_sleep();
    slept();
}

void Waiter::slept() noexcept {
    leave_if_ending();
    if (around_.look && Clock::now() - around_.last >= kLookAfter) {
        around_.look();
        around_.last = Clock::now();
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

[[gnu::cold]] bool wake(TaskSlot& slot) noexcept {
    const std::uint32_t before = slot.sleeping.exchange(kAwake, std::memory_order_acq_rel);
    if (before == kAwake) return false;
    if (before == kAsleepOnFifo) return true;
    slot.doorbell.fetch_add(1, std::memory_order_release);
    futex_wake(slot.doorbell, 1);
    return false;
}

}  // namespace poe::comm
