// Starts a program in a process group of its own, so that Ctrl-C reaches pdbx only. The signals
// that pdbx blocks or ignores have their defaults in the program.
#pragma once

#include <spawn.h>
#include <string>
#include <vector>

namespace poe::debugger {

// `path` is looked up in PATH if it has no slash. Returns the process. Throws Error, which says
// "cannot run", the path and `remedy`.
pid_t start_child(const std::string& path, std::vector<std::string> words, char* const* environment,
                  const posix_spawn_file_actions_t& actions, const std::string& remedy = "");

}  // namespace poe::debugger
