// Commands files and command lines: one line for each task (pgmmodel mpmd) or job step (spmd with
// newjob). Splits a line into words as a shell user expects, without any expansion. Apart from the
// prompt (poe/program_prompt.hpp) because the same words may come from a file or a terminal.
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
};

struct CommandsFile {
    std::string path;  // as the user wrote it, for messages
    std::vector<CommandLine> lines;
};

// Splits one line into words. Blanks separate; '...' keeps everything; "..." keeps everything
// except that \" \\ \$ \` mean the second character; outside quotes a backslash keeps the next
// character; quotes may be empty words or parts of words. No variables, no wildcards, no comments.
// Gives no words for a blank line. Errors (a quote without its end, a backslash at the end, a NUL
// byte) name `source`, `line` and the column. Pure.
Result<Command> split_command(std::string_view text, const std::string& source, int line);

// `word` as one would type it in a shell: as it stands if it can, else in '...', or in $'...' with
// \xNN if it has control characters, so that it is safe to show. Without control characters,
// split_command reads it back.
std::string shell_quoted(std::string_view word);

// True for lines that hold no command: blank, or the first character after blanks is ! * or #.
bool is_blank_or_comment(std::string_view line);

// Reads the text of a commands file; `path` is only for messages. Pure; any bytes are allowed.
Result<CommandsFile> parse_commands_file(std::string_view text, const std::string& path);

// Reads and parses the file. Blocks on the file system; a file that cannot be read is a UserError.
Result<CommandsFile> load_commands_file(const std::string& path);

}  // namespace poe::pm
