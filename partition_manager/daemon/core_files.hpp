// What a dying task leaves (-coredir, -corefile_format): the kernel's core file in a directory of
// its own, or the stacks of its threads as text.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// "coredir.3" for task 3; empty when the user wants no directory.
std::string core_directory(const CoreSpec& spec, TaskId task);

// The words to put before a program and its argv, so that it leaves its stacks (pmd-core(8)); none
// when core files are the kernel's. `helper` is the path of pmd-core.
std::vector<std::string> stack_keeper(const CoreSpec& spec, TaskId task, const std::string& helper);

// Moves the core file that the kernel has written for a process, if it is where core_pattern(5)
// leads to as seen from `directory` and not older than `youngest`, to core_directory(), under the
// name "core". False when there is none to be found: the kernel may give cores to a program, and
// tasks may change their directory. `pattern` and `uses_pid` are what /proc/sys/kernel says.
bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest, const std::string& pattern,
               bool uses_pid);

// With the kernel's own words for the last two.
bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest);

}  // namespace poe::pm
