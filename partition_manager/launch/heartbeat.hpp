// Heartbeat: shows a daemon's guardian (subreaper_guard.hpp) that the daemon's event loop still runs. It
// lies in memory that both processes share.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace poe::pm {

struct Heartbeat {
    // Written by the daemon: incremented at least four times in `limit_ms`.
    std::atomic<std::uint32_t> beats{0};
    // The guardian considers the daemon dead after this many milliseconds without a beat. 0: never.
    std::atomic<std::uint64_t> limit_ms{0};
};

// For how long there has been no beat, as seen by the guardian. Time in which the guardian itself
// did not run does not count: the whole node may have been suspended, or all processes of the job
// stopped, and then the daemon has had no chance to beat either.
class Silence {
  public:
    using Duration = std::chrono::milliseconds;

    // After a sleep that was to last `planned`, at which the guardian woke up after `slept`.
    // `excused`: the daemon is held by a debugger. Answers for how long the daemon has been silent.
    Duration look(std::uint32_t beats, Duration planned, Duration slept, bool excused) noexcept {
        const bool alive = excused || beats != last_;
        silent_ = alive ? Duration{0} : silent_ + std::min(slept, planned);
        last_ = beats;
        return silent_;
    }

  private:
    std::uint32_t last_ = 0;
    Duration silent_{0};
};

}  // namespace poe::pm
