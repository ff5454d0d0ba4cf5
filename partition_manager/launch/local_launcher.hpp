// Starts the `pmd` of this node: creates a socketpair and the daemon at its other end.
// remote_launcher.hpp starts the daemons of other nodes.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/unique_fd.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

// The directory of the running program, without a trailing slash.
std::string own_directory();

// The file `name` in the directory of the running program. Throws Error if it does not exist.
std::string find_pmd_sibling(const std::string& name);

struct LaunchedDaemon {
    pid_t pid = 0;  // process id of pmd, or of the remote shell that leads to it
    UniqueFd channel;
    // Receives the standard error of the remote shell. Empty: pmd writes to the standard error of
    // this process.
    UniqueFd said;
};

// The two ends of a channel to a process that is about to be started. make_channel_ends() throws
// Error.
struct ChannelEnds {
    UniqueFd ours;
    UniqueFd its;
};
ChannelEnds make_channel_ends();

// The path of pmd: `wanted` (MP_PMD) if it is not empty; otherwise next to the running program;
// otherwise along PATH. Throws Error with the places that were searched.
std::string find_pmd(const std::string& wanted, const char* path_variable);

// Starts the daemon. It gets a session of its own, so signals from the terminal reach it only
// through `poe`. Throws Error if it cannot be started.
LaunchedDaemon launch_local(const std::string& pmd, const InheritedSignals& heritage,
                            char* const* environment);

}  // namespace poe::pm
