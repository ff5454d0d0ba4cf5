// Splits a command line into poe's words and the program's. Separate from the meaning of the words
// (options.hpp), because this part must not change a byte of another program's arguments. CLI11
// cannot do it: it supports neither long names after one dash nor flags among words that must be
// passed on unread. Therefore the option table is used (option_table.hpp).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/job.hpp"
#include "poe/option_table.hpp"

namespace poe::cli {

// One flag of poe as it was typed.
struct FlagUse {
    const OptionRow* row = nullptr;
    std::string spelling;  // "-hfile", "--procs": the flag without its value
    std::string value;     // empty for flags without a value
    std::size_t part = 0;  // index of the program to which it belongs
    bool before_program = false;
};

// A word after a program that was passed to the program, although the user probably meant a flag of
// poe.
struct Lookalike {
    const OptionRow* row = nullptr;  // the flag that was probably meant
    std::string typed;               // "-proc 4", "--procs=4", "-n 4"
    std::string value;               // "4"; empty: unknown
    bool of_mpirun = false;          // -n or -np
};

struct SplitArguments {
    std::vector<FlagUse> flags;  // in order; a flag may occur twice
    // The programs with their arguments. There is one, which is empty if the command line names
    // none. There are several if ':' separates them.
    std::vector<pm::Command> programs{1};
    std::vector<Lookalike> lookalikes;  // in order
};

// Returns the NAME in -NAME, --NAME, -NAME=VALUE and --NAME=VALUE.
std::string_view flag_name(std::string_view word);

// The settings from the variables. -noarglist and -fence before the program take precedence.
struct SplitRules {
    bool noarglist = false;
    std::string fence;  // empty: none
};

// Splits the arguments (without argv[0]). Pure.
//
// Before the program:
// - -name VALUE, --name VALUE, -name=VALUE and --name=VALUE are poe's.
// - An unknown word that begins with '-' is an error with a suggestion.
// - After `--` the next word is the program, and all further words are the program's.
// - The first other word is the program.
//
// After the program:
// - Only -name VALUE (and --dry-run) is poe's, at any position.
// - All other words are passed on unchanged and in order.
// - The fence word is removed, and all words after it are passed on unchanged (before the program
//   it acts like --).
// - With noarglist all words after the program are passed on unchanged.
//
// If -n or -np precedes the first program, the word ':' ends a program and its arguments, and the
// flags and the program of the next part follow, as for mpirun.
//
// A flag at the end without its value is an error, and so is a part without a program.
Result<SplitArguments> split_arguments(const std::vector<std::string>& arguments, SplitRules rules);

}  // namespace poe::cli
