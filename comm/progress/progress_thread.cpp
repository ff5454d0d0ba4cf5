// Decides when the progress thread polls, naps and sleeps; see progress_thread.hpp for the rules.
#include "comm/progress/progress_thread.hpp"

#include <algorithm>
#include <pthread.h>
#include <system_error>

#include "base/error.hpp"
#include "base/futex.hpp"
#include "comm/progress/signals_blocked.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds kShortestNap = 200us;
constexpr std::chrono::microseconds kLongestNap = 1ms;
constexpr std::chrono::microseconds kIdleNap = 1s;  // for mode kOff, and while no operation is open
constexpr auto kLongestPark = 1s;

}  // namespace

ProgressThread::ProgressThread(RuntimeLock& turn, ProgressWork& work, ProgressSleeper& sleeper,
                               const Settings& settings)
    : turn_(turn), work_(work), sleeper_(sleeper) {
    set(settings);
    turn_.prepare([this] { sleeper_.end_sleep(); });
    const SignalsBlocked blocked;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        throw Error(std::string("MP_CSS_INTERRUPT, MP_POLLING_INTERVAL: no thread can be started "
                                "(") +
                    error.what() + "); raise the limit (ulimit -u), or do without them");
    }
    ::pthread_setname_np(thread_.native_handle(), "mpl-progress");
}

ProgressThread::~ProgressThread() {
    thread_.join();
}

void ProgressThread::set(const Settings& settings) noexcept {
    mode_.store(settings.mode, std::memory_order_relaxed);
    delay_us_.store(settings.delay.count(), std::memory_order_relaxed);
    interval_us_.store(settings.interval.count(), std::memory_order_relaxed);
    notice_change();
}

void ProgressThread::stop() noexcept {
    stop_.store(true, std::memory_order_relaxed);
    notice_change();
}

void ProgressThread::notice_change() noexcept {
    changes_.fetch_add(1, std::memory_order_release);
    futex_wake(changes_);
}

void ProgressThread::nap(std::chrono::microseconds time) noexcept {
    const std::uint32_t seen = changes_.load(std::memory_order_acquire);
    if (!stopped()) futex_wait(changes_, seen, time);
}

void ProgressThread::end_idleness() noexcept {
    idle_.store(false, std::memory_order_relaxed);
    notice_change();
}

// `seen` is the value of changes_ before idle_ was set.
void ProgressThread::sleep_while_idle(std::uint32_t seen) noexcept {
    while (!stopped() && idle_.load(std::memory_order_relaxed))
        futex_wait(changes_, seen, kIdleNap);
}

void ProgressThread::run() noexcept {
    auto short_nap = kShortestNap;
    while (!stopped()) {
        const std::chrono::microseconds interval(interval_us_.load(std::memory_order_relaxed));
        if (mode() == Mode::kOff) {
            nap(kIdleNap);
            continue;
        }
        turn_.watch();
        nap(mode() == Mode::kInterrupts ? short_nap : interval);
        const RuntimeLock::Claim claim = turn_.claim();
        if (claim == RuntimeLock::Claim::kGranted) serve();
        if (claim == RuntimeLock::Claim::kTaskInside) turn_.park(kLongestPark);
        short_nap = claim == RuntimeLock::Claim::kTaskCame ? std::min(2 * short_nap, kLongestNap)
                                                           : kShortestNap;
    }
}

// Precondition: this thread has the turn. The turn has been given up when the function returns.
void ProgressThread::serve() {
    while (!stopped()) {
        const bool moved = work_.make_progress(calls_handlers());
        if (moved && turn_.wanted()) break;
        if (moved) continue;
        if (mode() == Mode::kBackground && !work_.has_open_operations()) {
            const std::uint32_t seen = changes_.load(std::memory_order_acquire);
            idle_.store(true, std::memory_order_relaxed);
            turn_.release();
            sleep_while_idle(seen);
            return;
        }
        if (mode() != Mode::kBackground && mode() != Mode::kInterrupts) break;
        sleeper_.announce();
        const bool missed = work_.make_progress(calls_handlers());
        if (!missed) {
            sleeper_.prepare();
            if (!turn_.rest([this] { sleeper_.sleep(); })) return;
        }
        sleeper_.withdraw();
        const std::chrono::microseconds delay(delay_us_.load(std::memory_order_relaxed));
        if (delay > 0us && !turn_.rest([&] { nap(delay); })) return;
    }
    turn_.release();
}

}  // namespace poe::comm
