// Heartbeat: shows the subreaper guard of a daemon (subreaper_guard.hpp) that the daemon's event
// loop still runs. It is in memory that both processes share.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace poe::pm {

struct Heartbeat {
    // Written by the daemon, which increments it at least four times in `limit_ms`.
    std::atomic<std::uint32_t> beats{0};
    // Written by the daemon. If there is no beat for this many milliseconds, the guard considers
    // the daemon dead. 0: no limit.
    std::atomic<std::uint64_t> limit_ms{0};
};

// Measures for the guard how long there has been no beat. Time in which the guard itself did not
// run is not counted: the whole node may have been suspended, or all processes of the job stopped,
// and then the daemon could not beat either.
class Silence {
  public:
    using Duration = std::chrono::milliseconds;

    // To be called after a sleep that was to last `planned` and lasted `slept`. `excused`: a
    // debugger is attached to the daemon. Returns how long the daemon has been silent.
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
