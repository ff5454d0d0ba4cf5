// Line-buffered standard output of tasks (-unbuffered). If the output of a program is a pipe, the C
// library collects some kilobytes before it writes them, and data that has not been written is lost
// if the program is killed. A small preloaded library changes this for C, C++ and everything built
// on them. For Fortran and Python environment variables do so.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

// True if a library can be preloaded into the program in this file: it is dynamically linked, for
// this computer's word size, and has no sanitizer, because a sanitizer's runtime must be loaded
// first. For a script the interpreter is checked. Reads the file.
bool accepts_preload(const std::string& file);

// The path of the library, relative to the directory of pmd's program. Empty if it is not
// installed.
std::string find_unbuffered_library(const std::string& directory);

// The variables that a task needs in addition. `output` is the inode of the pipe that is the task's
// standard output; `environment` is the rest of its environment. Pure.
std::vector<std::pair<std::string, std::string>> line_buffering_variables(
    Unbuffered mode, const std::string& library, ino_t output,
    const std::vector<std::string>& environment);

}  // namespace poe::pm
