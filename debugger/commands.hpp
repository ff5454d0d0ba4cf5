// The commands of pdbx: the names of gdb and of dbx, and their abbreviations. Whatever is no
// command here is a command of gdb, which each task of the group executes. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poe::debugger {

enum class CommandKind {
    kGroup,        // define, list and change groups
    kOn,           // choose the current group, or one for this command
    kTasks,        // a line for each task
    kBreak,        // break at a place
    kStop,         // the same with dbx's words: stop at, stop in, stop if
    kTrace,        // report each time that a place is reached, and continue
    kWatch,        // stop when a value changes
    kCatch,        // stop at signals, calls, deadlocks
    kDelete,       // remove breakpoints
    kBreakpoints,  // list breakpoints
    kContinue,
    kStep,
    kNext,
    kStepInstruction,
    kNextInstruction,
    kFinish,
    kUntil,
    kHalt,  // stop running tasks
    kWhere,
    kPrint,
    kValues,
    kUp,
    kDown,
    kFrame,
    kThread,
    kList,
    kWhy,
    kMessages,
    kDetach,
    kQuit,
    kSource,
    kHelp,
    kGdb,  // passed on to gdb
};

struct CommandName {
    const char* name;       // the full name
    const char* shortened;  // abbreviations with blanks between them, beside each unique beginning
    CommandKind kind;
    const char* gdb;    // kGdb: gdb's command in place of the name
    const char* usage;  // what follows the name
    const char* help;   // one line
};

// All commands in the order of the help.
const std::vector<CommandName>& command_names();

struct CommandLine {
    CommandKind kind = CommandKind::kGdb;
    std::string name;         // the full name; kGdb: gdb's command
    std::string arguments;    // without blanks at both ends
    bool background = false;  // the line ended with &
};

// Parses a line. Empty if it has no command (blank, or a comment that begins with #).
std::optional<CommandLine> parse_command(std::string_view line);

// True if an empty line repeats this command, as in gdb.
bool repeats(CommandKind kind);

// What an empty line after this line executes; empty: nothing. The next `list` goes on, so its
// place is left out.
std::string repetition(const std::string& line, const CommandLine& command);

// True if nothing may follow the command.
bool takes_nothing(CommandKind kind);

// Returns the text without the line ends after it.
std::string without_line_end(std::string text);

// Returns the first word of the text and removes it, with the blanks around it.
std::string take_word(std::string& text);

// The lines of the help, or those of one command. Empty: there is no such command.
std::vector<std::string> help_lines(const std::string& command);

// Replaces each $task in an expression.
std::string with_task(std::string_view expression, const std::string& replacement);

}  // namespace poe::debugger
