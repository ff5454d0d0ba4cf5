// Starts the `pmd` of another node by a remote shell, whose standard streams become the channel.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/job.hpp"
#include "partition_manager/launch/local_launcher.hpp"

namespace poe::pm {

// The arguments with which poe starts the daemon, and those with which it prints how its node is
// used (node_use.hpp).
inline constexpr const char* kDaemonArguments = "--channel --guard";
inline constexpr const char* kUseArguments = "--use";
// The same for the load of its node (node_statistics.hpp).
inline constexpr const char* kStatisticsArguments = "--statistics";

// Returns the command line for the user's shell on the other node. It starts the daemon at `pmd` if
// that exists, otherwise the one along that node's PATH. If there is none, it reports this on
// standard error and exits with 127. Pure.
std::string remote_command(const std::string& pmd, const std::string& arguments);

// Returns the remote shell's command line for a node: `launch.remote_shell` with %h replaced by the
// node's name (without %h the name is appended), and then remote_command(). Pure.
std::vector<std::string> remote_shell_words(const LaunchSpec& launch, const std::string& node,
                                            const std::string& arguments);

// Runs that command line. Does not wait for the other node. The process gets a session of its own
// and no terminal, so nothing can ask for a password. Throws Error if the remote shell itself
// cannot be started here.
LaunchedDaemon launch_remote(const LaunchSpec& launch, const std::string& node,
                             const InheritedSignals& heritage, char* const* environment);

}  // namespace poe::pm
