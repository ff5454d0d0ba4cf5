// Line-buffered standard output of tasks (-unbuffered). If the output of a program is a pipe, the C
// library collects some kilobytes before it writes them, and data that has not been written is lost
// if the program is killed. A small preloaded library changes this for C, C++ and everything built
// on them; environment variables change it for Fortran and Python.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

// The variables that a task needs in addition. `output` is the inode of the pipe that is the task's
// standard output; `environment` is the rest of its environment, and `preload` the value of
// LD_PRELOAD without this library. `library` is its path; empty: it cannot be preloaded. Pure.
std::vector<std::pair<std::string, std::string>> line_buffering_variables(
    Unbuffered mode, const std::string& library, ino_t output,
    const std::vector<std::string>& environment, const std::string& preload);

}  // namespace poe::pm
