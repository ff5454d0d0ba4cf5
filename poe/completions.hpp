// Completions for shells, made from the option table at build time, so that they know every flag
// and what its value may be. Pure: text out.
#pragma once

#include <string>

namespace poe::cli {

// For bash: poe, and poestat, poekill and pmarray, which take names of jobs.
std::string bash_completions();
// For zsh, the same commands.
std::string zsh_completions();
// For fish, which loads a file for each command: poe, and the others by name.
std::string fish_completions_of_poe();
std::string fish_completions_of_jobs(const std::string& command);

}  // namespace poe::cli
