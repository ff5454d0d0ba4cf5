// Finds the file of a command's first word, and explains why it cannot run.
#pragma once

#include <string>
#include <string_view>

namespace poe::pm {

// The location of `program`. If it contains a slash, it is that file (relative to `directory`);
// otherwise the first executable file along `path` (a PATH). If there is none, `file` is empty, and
// `trouble` contains the best explanation, in words for the user.
struct ProgramPath {
    std::string file;
    std::string trouble;
};
ProgramPath find_program(const std::string& program, std::string_view path,
                         const std::string& directory);

// Returns why exec of `file` failed with `exec_errno`, in words: missing interpreter, other
// architecture, ...
std::string explain_exec_failure(const std::string& file, int exec_errno);

// True if `file` is a text without "#!", which shells interpret although exec refuses it with
// ENOEXEC.
bool is_shell_text(const std::string& file);

}  // namespace poe::pm
