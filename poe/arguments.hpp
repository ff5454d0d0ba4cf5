// Splitting a command line: which words are poe's and which are the program's. Apart from what the
// words mean (options.hpp), because this is the part that must not touch a byte of another
// program's arguments. CLI11 cannot do it: it knows neither long names behind one dash nor flags
// strewn among words that must pass unread, so the table (option_table.hpp) does.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/job.hpp"
#include "poe/option_table.hpp"

namespace poe::cli {

// One flag of poe's as it was typed.
struct FlagUse {
    const OptionRow* row = nullptr;
    std::string spelling;  // "-hfile", "--procs": the word without its value
    std::string value;     // empty for flags without a value
    std::size_t part = 0;  // index of the program before or after which it was typed
    bool before_program = false;
};

// Words after a program that were passed to it, although the user probably meant a flag of poe.
struct Lookalike {
    const OptionRow* row = nullptr;  // the flag that was probably meant
    std::string typed;               // "-proc 4", "--procs=4", "-n 4"
    std::string value;               // "4"; empty: unknown
    bool of_mpirun = false;          // -n or -np
};

struct SplitArguments {
    std::vector<FlagUse> flags;  // in order; a flag may come twice
    // The programs with their arguments. There is one, which is empty if the command line names
    // none; several if ':' separates them.
    std::vector<pm::Command> programs{1};
    std::vector<Lookalike> lookalikes;  // in order
};

// The NAME in -NAME, --NAME, -NAME=VALUE and --NAME=VALUE.
std::string_view flag_name(std::string_view word);

// What the variables say about splitting; -noarglist and -fence before the program beat them.
struct SplitRules {
    bool noarglist = false;
    std::string fence;  // empty: none
};

// Splits the arguments (without argv[0]). Pure.
//   Before the program: -name VALUE, --name VALUE, -name=VALUE and --name=VALUE are poe's; an
//   unknown word that begins with '-' is an error with a suggestion. `--` ends poe's part: the next
//   word is the program, all behind it is the program's. The first other word is the program. After
//   the program: exactly -name VALUE (and --dry-run) is poe's, wherever it stands; everything else
//   passes untouched and in order. The fence word is removed; all behind it passes untouched
//   (before the program it acts like --). With noarglist everything behind the program passes
//   untouched.
//   If -n or -np stands before the first program, the word ':' ends a program and its arguments,
//   and the flags and the program of the next part follow, as for mpirun.
// A flag at the end without its value is an error, and so is a part without a program.
Result<SplitArguments> split_arguments(const std::vector<std::string>& arguments, SplitRules rules);

}  // namespace poe::cli
