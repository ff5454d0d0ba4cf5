// What a dying task leaves (-coredir, -corefile_format): the kernel's core file in a separate
// directory, or the stacks of its threads as text.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// "coredir.3" for task 3. Empty if the user does not want a directory.
std::string core_directory(const CoreSpec& spec, TaskId task);

// Returns the words to put before a program and its argv, so that it writes its stacks when it dies
// (pmd-core(8)). Empty if the kernel's core files are kept. `helper` is the path of pmd-core.
std::vector<std::string> stack_keeper(const CoreSpec& spec, TaskId task, const std::string& helper);

// Moves the core file that the kernel has written for a process to core_directory(), under the name
// "core". The file must be where `pattern` (core_pattern, see core(5)) leads to from `directory`,
// belong to this user, and not be older than `youngest`. Returns false if it is not found: the
// kernel may pipe cores to a program, and tasks may change their directory. `pattern` and
// `uses_pid` are the values in /proc/sys/kernel.
bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest, const std::string& pattern,
               bool uses_pid);

// Reads `pattern` and `uses_pid` from /proc/sys/kernel.
bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest);

}  // namespace poe::pm
