// The slow paths of the runtime lock; runtime_lock.hpp has the protocol and its proof.
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
    if (shared()) return enter_shared();
    if (nested_.load(std::memory_order_relaxed) == std::this_thread::get_id())
        return Entry::kNested;
    for (;;) {
        const std::uint32_t now = progress_request_.load(std::memory_order_acquire);
        if (now == kClaimed || now == kWanted) {
            wait_for_claimant();
            continue;
        }
        if (task_holds_.load(std::memory_order_relaxed) != 0) return Entry::kRefused;
        task_holds_.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return go_on_slowly();
    }
}

// Precondition: task_holds_ is 1, and progress_request_ was nonzero.
RuntimeLock::Entry RuntimeLock::go_on_slowly() noexcept {
    for (;;) {
        std::uint32_t now = progress_request_.load(std::memory_order_acquire);
        switch (now) {
            case kWatching:
            case kParked:
                if (!progress_request_.compare_exchange_strong(now, idle_)) continue;
                if (now == kParked) futex_wake(progress_request_);
                return Entry::kEntered;
            case kArmed:
                if (!progress_request_.compare_exchange_strong(now, idle_)) continue;
                disarm_();
                return Entry::kEntered;
            case kClaimed:
            case kWanted:
                task_holds_.store(0, std::memory_order_release);
                wait_for_claimant();
                task_holds_.store(1, std::memory_order_relaxed);
                std::atomic_thread_fence(std::memory_order_seq_cst);
                continue;
            default:
                return Entry::kEntered;
        }
    }
}

void RuntimeLock::wait_for_claimant() noexcept {
    for (int spins = 0; spins < kSpinsForClaimant; ++spins) {
        const std::uint32_t now = progress_request_.load(std::memory_order_acquire);
        if (now != kClaimed && now != kWanted) return;
        relax();
    }
    for (;;) {
        std::uint32_t now = progress_request_.load(std::memory_order_acquire);
        if (now != kClaimed && now != kWanted) return;
        if (now == kClaimed && !progress_request_.compare_exchange_strong(now, kWanted)) continue;
        futex_wait(progress_request_, kWanted, kLookAgain);
    }
}

void RuntimeLock::leave_slowly() noexcept {
    if (shared()) return leave_shared();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    unpark();
}

void RuntimeLock::unpark() noexcept {
    if (shared()) {
        if (!parked_.load()) return;
        unparks_.fetch_add(1);
        futex_wake(unparks_);
        return;
    }
    std::uint32_t parked = kParked;
    if (progress_request_.compare_exchange_strong(parked, idle_)) futex_wake(progress_request_);
}

// --- the progress thread

void RuntimeLock::prepare(std::function<void()> disarm) {
    disarm_ = std::move(disarm);
    const long registered =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    idle_ = registered == 0 ? kIdle : kFenced;
    if (!shared()) progress_request_.store(idle_);
}

void RuntimeLock::watch() noexcept {
    if (progress_thread() == 0) progress_thread_.store(::gettid(), std::memory_order_relaxed);
    std::uint32_t idle = idle_;
    // Fails if kWatching is still stored, and in shared mode.
    if (progress_request_.compare_exchange_strong(idle, kWatching) || !shared()) return;
    take_again();
    watched_ = calls_;
    give_up();
}

void RuntimeLock::heavy_fence() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (idle_ == kIdle) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

RuntimeLock::Claim RuntimeLock::claim() noexcept {
    if (shared()) return claim_shared();
    std::uint32_t mark = kWatching;
    if (!progress_request_.compare_exchange_strong(mark, kClaimed)) return Claim::kTaskCame;
    heavy_fence();
    if (task_holds_.load(std::memory_order_acquire) != 0) {
        give_back(idle_);
        return Claim::kTaskInside;
    }
    nest();
    return Claim::kGranted;
}

void RuntimeLock::release() noexcept {
    if (shared()) return leave_shared();
    unnest({});
    give_back(idle_);
}

void RuntimeLock::give_back(std::uint32_t to) noexcept {
    const std::uint32_t before = progress_request_.exchange(to, std::memory_order_acq_rel);
    POE_CHECK(before == kClaimed || before == kWanted, before);
    if (before == kWanted) futex_wake(progress_request_);
}

bool RuntimeLock::rest(const std::function<void()>& sleep) {
    if (shared()) return rest_shared(sleep);
    unnest({});
    give_back(kArmed);
    sleep();
    std::uint32_t armed = kArmed;
    if (!progress_request_.compare_exchange_strong(armed, kClaimed)) return false;
    nest();
    return true;
}

void RuntimeLock::park(std::chrono::nanoseconds limit) noexcept {
    std::uint32_t idle = idle_;
    if (!progress_request_.compare_exchange_strong(idle, kParked))
        return shared() ? park_shared(limit) : void();
    heavy_fence();
    if (task_holds_.load(std::memory_order_acquire) != 0)
        futex_wait(progress_request_, kParked, limit);
    std::uint32_t parked = kParked;
    progress_request_.compare_exchange_strong(parked, idle_);
}

// --- shared mode

namespace {

const void* this_thread() noexcept {
    static thread_local char own = 0;
    return &own;
}

}  // namespace

// A progress thread that has stored a claim sees task_holds_, and withdraws its claim.
void RuntimeLock::share(TurnObserver& observer) noexcept {
    POE_CHECK(task_holds_.load() != 0 && !shared(), progress_request_.load());
    observer_ = &observer;
    take_again();
    for (;;) {
        std::uint32_t now = progress_request_.load(std::memory_order_acquire);
        if (now == kClaimed || now == kWanted) {
            relax();
        } else if (progress_request_.compare_exchange_strong(now, kShared)) {
            if (now == kParked) futex_wake(progress_request_);
            if (now == kArmed) disarm_();
            return;
        }
    }
}

void RuntimeLock::give_up() noexcept {
    owner_.store(nullptr, std::memory_order_relaxed);
    lock_.unlock();
}

void RuntimeLock::take_again() noexcept {
    lock_.lock();
    owner_.store(this_thread(), std::memory_order_relaxed);
}

RuntimeLock::Entry RuntimeLock::enter_shared() noexcept {
    if (owner_.load(std::memory_order_relaxed) == this_thread()) return Entry::kNested;
    take_again();
    ++calls_;
    if (std::exchange(armed_, false)) disarm_();
    return Entry::kEntered;
}

void RuntimeLock::leave_shared() noexcept {
    observer_->before_release();
    give_up();
}

RuntimeLock::Claim RuntimeLock::claim_shared() noexcept {
    take_again();
    if (calls_ == watched_ && !observer_->any_waits()) return Claim::kGranted;
    const bool came = calls_ != watched_;
    give_up();
    return came ? Claim::kTaskCame : Claim::kTaskInside;
}

bool RuntimeLock::rest_shared(const std::function<void()>& sleep) {
    armed_ = true;
    leave_shared();
    sleep();
    take_again();
    if (std::exchange(armed_, false)) return true;
    give_up();
    return false;
}

// The last thread that stops waiting ends this sleep by unpark().
void RuntimeLock::park_shared(std::chrono::nanoseconds limit) noexcept {
    parked_.store(true);
    const std::uint32_t seen = unparks_.load();
    take_again();
    const bool any_waits = observer_->any_waits();
    give_up();
    if (any_waits) futex_wait(unparks_, seen, limit);
    parked_.store(false);
}

}  // namespace poe::comm
