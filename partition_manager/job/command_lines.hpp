// What a command of the system prints. Apart because all who ask one (Slurm, the name service, a
// script of the user) do it in the same way.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// Runs a command line by the shell and waits for its end. The lines of its standard output, without
// line ends; its standard error is ours. Throws Error when it cannot be run at all.
std::vector<std::string> lines_of_command(const std::string& command);

}  // namespace poe::pm
