// The slow paths of the turn's protocol; runtime_lock.hpp has the protocol and its proof.
#include "comm/progress/runtime_lock.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/futex.hpp"
#include "base/relax.hpp"

namespace poe::comm {
namespace {

// The progress thread polls for about a microsecond; a handler may run for any length of time.
constexpr int kSpinsForClaimant = 200;
constexpr auto kLookAgain = std::chrono::milliseconds(100);

}  // namespace

// --- the task

RuntimeLock::Entry RuntimeLock::enter_slowly() noexcept {
    if (nested_.load(std::memory_order_relaxed) == std::this_thread::get_id())
        return Entry::kNested;
    for (;;) {
        const std::uint32_t now = attention_.load(std::memory_order_acquire);
        if (now == kClaimed || now == kWanted) {
            wait_for_claimant();
            continue;
        }
        if (held_.load(std::memory_order_relaxed) != 0) return Entry::kRefused;
        held_.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return go_on_slowly();
    }
}

// Precondition: held_ is 1, and attention_ was seen to be nonzero.
RuntimeLock::Entry RuntimeLock::go_on_slowly() noexcept {
    for (;;) {
        std::uint32_t now = attention_.load(std::memory_order_acquire);
        switch (now) {
            case kWatching:
            case kParked:
                if (!attention_.compare_exchange_strong(now, idle_)) continue;
                if (now == kParked) futex_wake(attention_);
                return Entry::kEntered;
            case kArmed:
                if (!attention_.compare_exchange_strong(now, idle_)) continue;
                disarm_();
                return Entry::kEntered;
            case kClaimed:
            case kWanted:
                held_.store(0, std::memory_order_release);
                wait_for_claimant();
                held_.store(1, std::memory_order_relaxed);
                std::atomic_thread_fence(std::memory_order_seq_cst);
                continue;
            default:
                return Entry::kEntered;
        }
    }
}

void RuntimeLock::wait_for_claimant() noexcept {
    for (int spins = 0; spins < kSpinsForClaimant; ++spins) {
        const std::uint32_t now = attention_.load(std::memory_order_acquire);
        if (now != kClaimed && now != kWanted) return;
        relax();
    }
    for (;;) {
        std::uint32_t now = attention_.load(std::memory_order_acquire);
        if (now != kClaimed && now != kWanted) return;
        if (now == kClaimed && !attention_.compare_exchange_strong(now, kWanted)) continue;
        futex_wait(attention_, kWanted, kLookAgain);
    }
}

void RuntimeLock::leave_slowly() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    unpark();
}

void RuntimeLock::unpark() noexcept {
    std::uint32_t parked = kParked;
    if (attention_.compare_exchange_strong(parked, idle_)) futex_wake(attention_);
}

// --- the progress thread

void RuntimeLock::prepare(std::function<void()> disarm) {
    disarm_ = std::move(disarm);
    const long registered =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    idle_ = registered == 0 ? kIdle : kFenced;
    attention_.store(idle_);
}

void RuntimeLock::heavy_fence() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (idle_ == kIdle) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

RuntimeLock::Claim RuntimeLock::claim() noexcept {
    std::uint32_t mark = kWatching;
    if (!attention_.compare_exchange_strong(mark, kClaimed)) return Claim::kTaskCame;
    heavy_fence();
    if (held_.load(std::memory_order_acquire) != 0) {
        give_back(idle_);
        return Claim::kTaskInside;
    }
    nest();
    return Claim::kGranted;
}

void RuntimeLock::release() noexcept {
    unnest({});
    give_back(idle_);
}

void RuntimeLock::give_back(std::uint32_t to) noexcept {
    const std::uint32_t before = attention_.exchange(to, std::memory_order_acq_rel);
    POE_CHECK(before == kClaimed || before == kWanted, before);
    if (before == kWanted) futex_wake(attention_);
}

bool RuntimeLock::rest(const std::function<void()>& sleep) {
    unnest({});
    give_back(kArmed);
    sleep();
    std::uint32_t armed = kArmed;
    if (!attention_.compare_exchange_strong(armed, kClaimed)) return false;
    nest();
    return true;
}

void RuntimeLock::park(std::chrono::nanoseconds limit) noexcept {
    attention_.store(kParked);
    heavy_fence();
    if (held_.load(std::memory_order_acquire) != 0) futex_wait(attention_, kParked, limit);
    std::uint32_t parked = kParked;
    attention_.compare_exchange_strong(parked, idle_);
}

}  // namespace poe::comm
