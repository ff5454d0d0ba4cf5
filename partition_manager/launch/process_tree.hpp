// All descendants of this process at any depth, including those that leave their process group. The
// caller must be a child subreaper, so that orphans of its descendants remain its descendants.
#pragma once

#include <span>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

// Makes orphaned descendants children of the calling process. Throws Error.
void become_subreaper();

// True if there are children, running or not yet reaped. One system call; descendants() needs
// several for each process.
bool has_children();

// Process ids of all descendants of the calling process, from /proc. The processes in `except` and
// their descendants are omitted. Processes that start during the call may be missing, so callers
// repeat the call until nothing is left.
std::vector<pid_t> descendants(std::span<const pid_t> except = {});

// Sends `signal` to all of them. Returns their number.
std::size_t signal_descendants(int signal, std::span<const pid_t> except = {});

}  // namespace poe::pm
