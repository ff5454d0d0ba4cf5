// The poe that pdbx starts, with the pipes that carry the output of the program.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/unique_fd.hpp"

namespace poe::debugger {

struct StartedPoe {
    pid_t pid = 0;
    UniqueFd debugger;  // the connection
    UniqueFd out;       // what the program and poe write
    UniqueFd err;
};

// Starts poe in a process group of its own, so that Ctrl-C reaches pdbx only. `input` is the file
// that the program reads. Throws Error.
StartedPoe start_poe(const std::vector<std::string>& arguments, const std::string& input);

}  // namespace poe::debugger
