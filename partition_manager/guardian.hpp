// The guardian of a daemon on another node: a process above it that does nothing but wait. On the
// home node poe cleans up after a daemon that was killed; elsewhere nobody is left who could.
#pragma once

#include <optional>

namespace poe::pm {

// What the daemon gets when its guardian is killed; it then ends the job in order.
inline constexpr int kGuardianLost = 1;  // SIGHUP

// Divides this process, which must have one thread. The daemon goes on with no value. The guardian
// comes back when the daemon has ended, with the status to exit with; what the daemon has left
// behind, processes and job directories, is gone then. Throws Error when there can be no other
// process.
std::optional<int> guard_daemon();

}  // namespace poe::pm
