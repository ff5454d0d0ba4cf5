// Finding the file behind a command's first word, and saying why it cannot run.
#pragma once

#include <string>
#include <string_view>

namespace poe::pm {

// Where `program` is: itself (below `directory`) when it has a slash, else the first executable
// file along `path` (a PATH). When there is none, the best explanation is kept in `trouble`, in
// words for the user, and `file` is empty.
struct ProgramPath {
    std::string file;
    std::string trouble;
};
ProgramPath find_program(const std::string& program, std::string_view path,
                         const std::string& directory);

// Why exec of `file` failed with `exec_errno`, in words: missing interpreter, other architecture,
// ...
std::string explain_exec_failure(const std::string& file, int exec_errno);

// True when exec refused `file` with ENOEXEC although it is a text, which shells then interpret.
bool is_shell_text(const std::string& file);

}  // namespace poe::pm
