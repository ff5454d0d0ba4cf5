// All processes below this one, however deep, however they hide from process groups. Needs the
// caller to be a child subreaper, so that orphans of its descendants stay its descendants.
#pragma once

#include <span>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

// Makes orphaned descendants children of the calling process.
void become_subreaper();

// Running or not yet waited for. One system call; descendants() takes several for each process.
bool has_children();

// Process numbers of all descendants of the calling process, from /proc; those of `except` and what
// is below them are left out. Those that start meanwhile may be missing: callers repeat until
// nothing is left.
std::vector<pid_t> descendants(std::span<const pid_t> except = {});

// Sends `signal` to all of them; returns how many there were.
std::size_t signal_descendants(int signal, std::span<const pid_t> except = {});

}  // namespace poe::pm
