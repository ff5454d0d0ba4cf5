// The guardian of a daemon on another node: a process above it that waits for the daemon's end. On
// the home node poe cleans up after a daemon that was killed; elsewhere only the guardian can.
//
// A daemon that is stopped, or whose event loop hangs, does not end by itself, and poe, which has
// lost it, ends the job without it. So the guardian also watches the daemon's heartbeat and kills a
// daemon that has been silent for the limit, unless a debugger holds it.
#pragma once

#include <optional>

#include "partition_manager/launch/heartbeat.hpp"

namespace poe::pm {

// What the daemon gets when its guardian is killed; it then ends the job in order.
inline constexpr int kGuardianLost = 1;  // SIGHUP

// Divides this process, which must have one thread.
struct Guarded {
    // In the guardian, when the daemon has ended: the status to exit with. What the daemon has left
    // behind, processes and job directories, is gone then. Empty in the daemon, which goes on.
    std::optional<int> status;
    // In the daemon: where to beat; lives as long as the process.
    Heartbeat* heartbeat = nullptr;
};
// Throws Error when there can be no other process.
Guarded guard_daemon();

}  // namespace poe::pm
