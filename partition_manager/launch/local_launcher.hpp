// Starting the `pmd` of this node: a socketpair, and the daemon at its other end. Those of other
// nodes: remote_launcher.hpp.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/unique_fd.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

// The directory of the running program, without a slash at the end.
std::string own_directory();

// The file `name` in the directory of the running program. Throws Error when it is not there.
std::string find_pmd_sibling(const std::string& name);

struct LaunchedDaemon {
    pid_t pid = 0;  // of pmd, or of the remote shell that leads to it
    UniqueFd channel;
    UniqueFd said;  // what the remote shell writes to its standard error; empty: pmd has ours
};

// The two ends of a channel to a process that is about to be started. Throws Error.
struct ChannelEnds {
    UniqueFd ours;
    UniqueFd its;
};
ChannelEnds make_channel_ends();

// `wanted` (MP_PMD) if not empty, else next to the running program, else along PATH. Throws Error
// that says where it was looked for.
std::string find_pmd(const std::string& wanted, const char* path_variable);

// Throws Error when the daemon cannot be started. The daemon is in a session of its own: signals
// from the terminal reach it through `poe` only.
LaunchedDaemon launch_local(const std::string& pmd, const InheritedSignals& heritage,
                            char* const* environment);

}  // namespace poe::pm
