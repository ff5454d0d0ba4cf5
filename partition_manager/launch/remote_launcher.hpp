// Starting the `pmd` of another node by a remote shell, whose standard streams become the channel.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/job.hpp"
#include "partition_manager/launch/local_launcher.hpp"

namespace poe::pm {

// The line that the user's shell on the other node is given: starts the daemon at `pmd` if it is
// there, else the one along that node's PATH, else says on standard error what is missing and ends
// with 127. Pure.
std::string remote_command(const std::string& pmd);

// The remote shell's command line for a node: `launch.remote_shell` with the node's name in the
// place of %h, or else behind it, and remote_command(). Pure.
std::vector<std::string> remote_shell_words(const LaunchSpec& launch, const std::string& node);

// Runs that command line. Throws Error when the remote
// shell itself cannot be started here. Does not wait for the other node. The process is in a
// session of its own and has no terminal, so that nothing can ask for a password on it.
LaunchedDaemon launch_remote(const LaunchSpec& launch, const std::string& node,
                             const InheritedSignals& heritage, char* const* environment);

}  // namespace poe::pm
