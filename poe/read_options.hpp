// Reads the user's request to poe. A pure function of arguments and environment, so that all rules
// can be tested without a process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// The MP_* variables, by name. Other variables are ignored.
using Environment = std::map<std::string, std::string, std::less<>>;

// Collects the MP_* variables of a null-terminated environment block. If a name occurs twice, the
// first one counts, as for getenv.
Environment mp_variables(const char* const* environment_block);

// Reads poe's command line (without argv[0]) and variables. Pure: no getenv, no files, no clock. A
// UserError names the flag or variable as typed, the value, the allowed values, and what was
// probably meant. poe's exit status is then 1.
Result<Options> read_options(const std::vector<std::string>& arguments,
                             const Environment& environment);

}  // namespace poe::cli
