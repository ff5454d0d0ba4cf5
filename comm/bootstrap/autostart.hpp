// A program that was started by hand with POE's flags starts POE, which starts the program's tasks:
// `./ring -procs 4` is `poe ./ring -procs 4`.
#pragma once

#include <string>
#include <vector>

namespace poe::comm {

// Whether a program with these arguments (argv) and environment was meant as a job. What another
// launcher has started is a task already, whatever MP_PROCS says; only a flag makes it a job. Pure.
bool wants_poe(const std::vector<std::string>& arguments, char** environment);

// Becomes poe, with this program and its arguments. Does not return: a poe that cannot be found or
// started is an error message and exit 1.
[[noreturn]] void become_poe(const std::vector<std::string>& arguments);

}  // namespace poe::comm
