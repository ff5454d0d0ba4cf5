// poe -trace attach JOB and poe -trace stop JOB: start and stop the trace of a running job.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "poe/diagnostics.hpp"
#include "poe/options.hpp"
#include "poe/read_options.hpp"

namespace poe::cli {

// True if the words of the command line are such a command.
bool is_trace_command(const std::vector<std::string>& arguments);

// Executes the command and returns poe's status. Blocks until the job's poe has answered; for a
// stop, until the trace file is complete. `directory` is the current one; `temporary` is TMPDIR.
int run_trace_command(const std::vector<std::string>& arguments, const Environment& variables,
                      const std::string& directory, const std::string& temporary);

}  // namespace poe::cli
