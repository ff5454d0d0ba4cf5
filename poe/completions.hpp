// Completions for shells. They are generated from the option table at build time, so they contain
// every flag and its allowed values. Pure: the functions return text.
#pragma once

#include <string>

namespace poe::cli {

// For bash: poe, and poestat, poekill and pmarray, which take job names.
std::string bash_completions();
// For zsh: the same commands.
std::string zsh_completions();
// For fish, which loads one file per command: poe, and the other commands by name.
std::string fish_completions_of_poe();
std::string fish_completions_of_jobs(const std::string& command);

}  // namespace poe::cli
