// futex_wait and futex_wake on a word in memory that several processes share. They are in base
// because the C library has no wrapper and both the daemon and the tasks need them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace poe {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Sleeps while `word` holds `expected`, at most `limit`. May return early because of a wake-up or a
// signal, so the caller must check its condition again. Blocking; thread-safe.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds limit) noexcept {
    const std::int64_t ns = limit.count();
    const timespec timeout{static_cast<time_t>(ns / 1'000'000'000),
                           static_cast<long>(ns % 1'000'000'000)};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

// Wakes up to `sleepers` threads that wait on `word`. Never blocks; thread-safe.
inline void futex_wake(std::atomic<std::uint32_t>& word, int sleepers = INT_MAX) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

}  // namespace poe
