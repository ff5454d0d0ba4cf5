// The output of a system command. Separate, because all users of such commands (Slurm, the name
// service, a script of the user) run them in the same way.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// Runs a command line in the shell and returns the lines of its standard output, without line ends.
// Blocks until it ends. Its standard error is that of this process. Throws Error if it cannot be
// run at all.
std::vector<std::string> lines_of_command(const std::string& command);

}  // namespace poe::pm
