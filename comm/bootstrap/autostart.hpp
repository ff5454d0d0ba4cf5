// A program that a user starts directly with POE's flags becomes poe, which starts the program's
// tasks: `./ring -procs 4` is the same as `poe ./ring -procs 4`.
#pragma once

#include <string>
#include <vector>

namespace poe::comm {

// True if a program with these arguments (argv) and environment is meant to be a job. A process
// that another launcher has started is a task already, whatever MP_PROCS says; only a flag makes it
// a job. Pure.
bool wants_poe(const std::vector<std::string>& arguments, char** environment);

// Replaces this process by poe, with this program and its arguments. Does not return: if poe cannot
// be found or started, prints an error message and exits with code 1.
[[noreturn]] void become_poe(const std::vector<std::string>& arguments);

}  // namespace poe::comm
