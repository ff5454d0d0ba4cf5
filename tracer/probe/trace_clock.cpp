// The rarely used parts of a TraceClock: anchors and rates. See trace_clock.hpp.
#include "tracer/probe/trace_clock.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tracer/probe/stream_file.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kAnchorNs = 1'000'000;
constexpr std::uint64_t kBaseNs = 1'000'000'000;

// True if the kernel keeps its time by the time stamp counter.
bool counter_is_the_clock() noexcept {
#ifdef __x86_64__
    std::FILE* file =
        std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file == nullptr) return false;
    char word[16] = {};
    const bool read = std::fgets(word, sizeof word, file) != nullptr;
    std::fclose(file);
    return read && std::strcmp(word, "tsc\n") == 0;
#else
    return false;
#endif
}

std::uint64_t ticks() noexcept {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

}  // namespace

TraceClock::TraceClock() noexcept : usable_(counter_is_the_clock()) {
    if (usable_) base_ = next_base_ = read();
}

// Both clocks at the same moment: of a few attempts the one that took the shortest time, because
// the thread may be interrupted between the readings.
TraceClock::Reading TraceClock::read() noexcept {
    constexpr int kAttempts = 4;
    Reading best;
    std::uint64_t shortest = ~std::uint64_t{0};
    for (int i = 0; i < kAttempts; ++i) {
        const std::uint64_t before = ticks();
        const std::uint64_t nanoseconds = monotonic_ns();
        const std::uint64_t took = ticks() - before;
        if (took >= shortest) continue;
        shortest = took;
        best = {before + took / 2, nanoseconds};
    }
    return best;
}

std::uint64_t TraceClock::read_both() noexcept {
    if (!usable_) return monotonic_ns();
    const std::scoped_lock lock(mutex_);
    Reading reading = read();
    if (reading.ticks <= base_.ticks || reading.nanoseconds < base_.nanoseconds + kAnchorNs)
        return reading.nanoseconds;
    // Another thread may have read the time from the previous anchor.
    const std::uint64_t since = reading.ticks - ticks_.load(std::memory_order_relaxed);
    if (longest_.load(std::memory_order_relaxed) != 0 &&
        since < 2 * longest_.load(std::memory_order_relaxed))
        reading.nanoseconds = std::max(
            reading.nanoseconds, nanoseconds_.load(std::memory_order_relaxed) +
                                     (since * rate_.load(std::memory_order_relaxed) >> kRateBits));
    replace_anchor(reading);
    return reading.nanoseconds;
}

// Precondition: the mutex is locked.
void TraceClock::replace_anchor(const Reading& reading) noexcept {
    const std::uint64_t elapsed = reading.nanoseconds - base_.nanoseconds;
    const double rate =
        static_cast<double>(elapsed) / static_cast<double>(reading.ticks - base_.ticks);
    // A reader that sees one of the following values also sees that the version is odd.
    version_.fetch_add(1, std::memory_order_relaxed);
    ticks_.store(reading.ticks, std::memory_order_release);
    nanoseconds_.store(reading.nanoseconds, std::memory_order_release);
    rate_.store(
        static_cast<std::uint64_t>(rate * static_cast<double>(std::uint64_t{1} << kRateBits)),
        std::memory_order_release);
    longest_.store(static_cast<std::uint64_t>(static_cast<double>(kAnchorNs) / rate),
                   std::memory_order_release);
    version_.fetch_add(1, std::memory_order_release);
    if (reading.nanoseconds - next_base_.nanoseconds < kBaseNs) return;
    base_ = next_base_;
    next_base_ = reading;
}

}  // namespace poe::trace
