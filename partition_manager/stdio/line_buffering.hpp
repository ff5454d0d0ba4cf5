// Line-buffered standard output of tasks (-unbuffered). A program whose output is a pipe collects
// some kilobytes before it writes them, and what it has collected is lost if it is killed. A small
// preloaded library changes that for C, C++ and all that is built on them; variables do for Fortran
// and Python.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

// True if a library can be preloaded into the program in this file: it is dynamically linked, for
// this computer's word size, and not with a sanitizer, whose runtime must come first. Of a script
// the interpreter counts. Reads the file.
bool accepts_preload(const std::string& file);

// Where the library is, seen from the directory of pmd's program; empty if it is not installed.
std::string find_unbuffered_library(const std::string& directory);

// What a task's environment needs in addition. `output`: the inode of the pipe that is the task's
// standard output; `environment`: what it has otherwise. Pure.
std::vector<std::pair<std::string, std::string>> line_buffering_variables(
    Unbuffered mode, const std::string& library, ino_t output,
    const std::vector<std::string>& environment);

}  // namespace poe::pm
