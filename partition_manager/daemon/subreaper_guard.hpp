// The subreaper guard of a daemon on another node: a process above the daemon that waits for the
// daemon's end. On the home node poe cleans up after a daemon that was killed. On other nodes only
// the guard can do so.
//
// A daemon that is stopped, or whose event loop hangs, does not end by itself; poe considers it
// lost and ends the job without it. Therefore the guard also watches the daemon's heartbeat. If the
// daemon has been silent for the limit, the guard kills it, unless a debugger is attached to it.
#pragma once

#include <optional>

#include "partition_manager/launch/heartbeat.hpp"

namespace poe::pm {

// The signal that the daemon gets if its guard is killed. The daemon then ends the job in order.
inline constexpr int kGuardLost = 1;  // = SIGHUP

// The result of guard_daemon(). The calling process must have one thread.
struct Guarded {
    // In the guard, after the daemon has ended: the status to exit with. The daemon's remaining
    // processes and job directories have been removed by then. Empty in the daemon, which
    // continues.
    std::optional<int> status;
    // In the daemon: the counter to increment. It lives as long as the process.
    Heartbeat* heartbeat = nullptr;
};
// Forks: the caller becomes the guard, its child the daemon. In the guard it blocks until the
// daemon has ended. Throws Error if no process can be created.
Guarded guard_daemon();

}  // namespace poe::pm
