// Counts the tasks per core and moves the own task; see core_balancer.hpp.
#include "comm/progress/core_balancer.hpp"

#include <algorithm>
#include <ctime>

namespace poe::comm {
namespace {

constexpr std::uint32_t kLookEveryMs = 4;
// A task that has not yielded for this long counts as computing.
constexpr std::int32_t kLatelyMs = 10;
constexpr std::uint32_t kLeastRestMs = 8;
constexpr std::uint32_t kMostRestMs = 1000;

// Time of the last timer tick in milliseconds. Reading it costs a few nanoseconds.
std::uint32_t coarse_ms() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

// Bits 63..32: milliseconds; bits 31..0: what.
constexpr std::uint64_t at(std::uint32_t ms, std::uint32_t what) noexcept {
    return std::uint64_t{ms} << 32 | what;
}
constexpr std::uint32_t when(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint32_t what(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
}

}  // namespace

int better_core(std::span<const std::uint32_t> tasks, const cpu_set_t& allowed, int own) noexcept {
    const auto of = [&](int core) { return tasks[static_cast<std::size_t>(core)]; };
    int best = own;
    for (int core = 0; core < static_cast<int>(tasks.size()); ++core) {
        if (of(core) > 0 && of(core) < of(best) && CPU_ISSET(core, &allowed)) best = core;
    }
    return of(own) >= of(best) + 2 ? best : -1;
}

// If a move is needed soon after the last one, something else has undone the last one. The pause
// then doubles.
std::uint32_t rest_after(std::uint32_t rest_ms, std::uint32_t since_ms) noexcept {
    const bool soon = since_ms < 4 * rest_ms;
    return std::clamp(soon ? 2 * rest_ms : rest_ms / 2, kLeastRestMs, kMostRestMs);
}

CoreBalancer::CoreBalancer(SegmentHeader& header, std::span<TaskSlot> slots, std::size_t own)
    : header_(header), slots_(slots), own_(own), tasks_(CPU_SETSIZE) {}

// Counts the tasks of each core in tasks_. Returns false if a task has not yielded lately.
bool CoreBalancer::count(std::uint32_t now_ms) noexcept {
    std::fill(tasks_.begin(), tasks_.end(), 0u);
    for (const TaskSlot& slot : slots_) {
        const std::uint64_t word = slot.core.load(std::memory_order_relaxed);
        const std::uint32_t core = what(word);
        // Negative if the other task has published a later tick than now_ms.
        const auto ago_ms = static_cast<std::int32_t>(now_ms - when(word));
        if (core == 0 || core > tasks_.size() || ago_ms > kLatelyMs) return false;
        ++tasks_[core - 1];
    }
    return true;
}

void CoreBalancer::look() noexcept {
    const std::uint32_t now_ms = coarse_ms();
    if (now_ms - looked_ms_ < kLookEveryMs) return;
    looked_ms_ = now_ms;
    const int core = ::sched_getcpu();
    if (core < 0 || core >= static_cast<int>(tasks_.size())) return;
    TaskSlot& own = slots_[own_];
    own.core.store(at(now_ms, static_cast<std::uint32_t>(core) + 1), std::memory_order_relaxed);
    std::uint64_t last = header_.core_move.load(std::memory_order_relaxed);
    const std::uint32_t since_ms = now_ms - when(last);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (since_ms < what(last) || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int to = count(now_ms) ? better_core(tasks_, allowed, core) : -1;
    if (to < 0) return;
    // Only one task of the job moves at a time.
    if (!header_.core_move.compare_exchange_strong(
            last, at(now_ms, rest_after(what(last), since_ms)), std::memory_order_relaxed))
        return;
    if (move(allowed, to))
        own.core.store(at(now_ms, static_cast<std::uint32_t>(to) + 1), std::memory_order_relaxed);
}

bool CoreBalancer::move(const cpu_set_t& allowed, int to) noexcept {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(static_cast<std::size_t>(to), &there);
    if (::sched_setaffinity(0, sizeof there, &there) != 0) return false;
    ::sched_setaffinity(0, sizeof allowed, &allowed);
    return true;
}

}  // namespace poe::comm
