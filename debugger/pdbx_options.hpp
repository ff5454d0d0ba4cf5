// The command line of pdbx: flags of its own, then everything that poe gets. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace poe::debugger {

struct PdbxOptions {
    enum class Request { kDebug, kHelp, kVersion };
    Request request = Request::kDebug;
    std::string attach;                // job to attach to
    std::string cores;                 // directory of core files to examine
    std::vector<std::string> scripts;  // files of commands
    bool batch = false;                // answers as JSON; ends with the last script
    bool screen = false;               // the whole screen instead of lines
    bool run = false;                  // lets the job run, and shows nothing before a task fails
    std::string input;  // file that becomes the program's standard input; empty: /dev/null
    std::vector<std::string>
        poe;  // program, its arguments, flags of poe; cores: the program at most
};

// Flags of pdbx come before the program.
Result<PdbxOptions> parse_pdbx_options(const std::vector<std::string>& arguments);

std::string pdbx_usage();

}  // namespace poe::debugger
