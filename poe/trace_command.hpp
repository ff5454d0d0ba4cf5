// poe -trace attach JOB, poe -trace stop JOB: tracing of a job that runs already.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "poe/diagnostics.hpp"
#include "poe/options.hpp"
#include "poe/read_options.hpp"

namespace poe::cli {

// Whether the words of the command line are such a command.
bool is_trace_command(const std::vector<std::string>& arguments);

// Does what it says; answers poe's status. Blocks until the job's poe has answered: for a stop,
// until the trace is made. `directory`: the current one; `temporary`: TMPDIR.
int run_trace_command(const std::vector<std::string>& arguments, const Environment& variables,
                      const std::string& directory, const std::string& temporary);

}  // namespace poe::cli
