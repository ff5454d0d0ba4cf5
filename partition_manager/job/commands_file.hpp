// Commands files and command lines: one line for each task (pgmmodel mpmd) or job step (spmd with
// newjob). Lines are split into words as a shell does, but without any expansion. Separate from the
// prompt (poe/program_prompt.hpp), because the same words may come from a file or a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// One line that is neither blank nor a comment; `line` counts from 1.
struct CommandLine {
    Command words;  // never empty
    int line = 0;
    // The process sets that the task of this line belongs to: the names of the last line "#pset
    // NAME NAME" before it.
    std::vector<std::string> sets;
};

struct CommandsFile {
    std::string path;  // as the user wrote it, for messages
    std::vector<CommandLine> lines;
};

// Splits one line into words. The rules:
//
//   blanks        separate words
//   '...'         keeps everything
//   "..."         keeps everything, except that \" \\ \$ \` mean the second character
//   \c            outside quotes: keeps the character c
//   quotes        may be empty words or parts of words
//
// There are no variables, no wildcards and no comments. A blank line yields no words. Errors (a
// quote without its end, a backslash at the end, a NUL byte) name `source`, `line` and the column.
// Pure.
Result<Command> split_command(std::string_view text, const std::string& source, int line);

// Returns `word` as a user would type it in a shell: unchanged if possible; otherwise in '...'; in
// $'...' with \xNN if it has control characters, so that it is safe to display. If there are no
// control characters, split_command reads it back.
std::string shell_quoted(std::string_view word);

// True for lines without a command: blank lines, and lines whose first character after blanks is !
// * or #.
bool is_blank_or_comment(std::string_view line);

// Parses the text of a commands file. `path` is used only in messages. Pure; accepts any bytes.
Result<CommandsFile> parse_commands_file(std::string_view text, const std::string& path);

// Reads and parses the file. Blocks on the file system. If the file cannot be read, returns a
// UserError.
Result<CommandsFile> load_commands_file(const std::string& path);

}  // namespace poe::pm
