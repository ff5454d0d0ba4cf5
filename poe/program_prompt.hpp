// Where the programs of a job come from: the command line, a commands file, or a dialogue on the
// terminal. Yields job steps one after another. The dialogue's two ends are functions, so that it
// is tested as text. Prompts and words: the Parallel Environment's "Operation and Use".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/task_map.hpp"
#include "poe/arguments.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// What the tasks run until the next step: task i runs commands[command_of_task[i]]. Equal commands
// are kept once, in order of first appearance; in spmd there is one.
struct JobStep {
    std::vector<pm::Command> commands;
    std::vector<std::uint32_t> command_of_task;  // size = tasks of the job
    std::vector<pm::CommandPlace> places;  // by command, as Options::place; empty: none has any
};

// Not thread-safe.
class ProgramPrompt {
  public:
    // Gives the next line without its newline, nothing at the end of input. May block.
    using LineSource = std::function<std::optional<std::string>()>;
    // Shows text to the user, at once.
    using Output = std::function<void(std::string_view text)>;

    // Copies what it needs of `options` (program, parts, program model, newjob, noarglist, fence,
    // name of the commands file) and of `map` (procs and node names). `commands` are the lines of
    // the commands file, if there is one; then `lines` is never called. `interactive`: standard
    // input is a terminal: prompts are shown, and a bad line is answered by its error and asked for
    // again.
    ProgramPrompt(const Options& options, const pm::TaskMap& map,
                  std::optional<pm::CommandsFile> commands, bool interactive, LineSource lines,
                  Output output);

    // The next job step, or nothing when there is none: `quit`, end of input, or all steps of a job
    // without -newjob are done. Blocks as `lines` does. A bad or missing line is a UserError, after
    // which next() must not be called again.
    //   program on the command line: the first step; with newjob, more come from file or prompt
    //   spmd: one line for each step; without newjob just one
    //   mpmd: one line for each task makes a step
    Result<std::optional<JobStep>> next();

    // Notices that reading the lines gave (trace flags on a line) since the last call.
    std::vector<Notice> take_notices();

  private:
    using MaybeCommand = Result<std::optional<pm::Command>>;

    Result<std::optional<JobStep>> next_spmd();
    Result<std::optional<JobStep>> next_mpmd();
    // One command from file or lines; nothing at the end of input, or at quit, which sets quit_.
    MaybeCommand next_command(const std::string& prompt);
    MaybeCommand next_from_file();
    MaybeCommand next_from_lines();
    MaybeCommand strip_flags(pm::Command words, const std::string& source, int line);
    JobStep same_for_all(pm::Command words) const;
    JobStep step_of_parts() const;
    UserError blank_line() const;
    UserError missing_commands(std::size_t loaded) const;
    UserError no_program() const;
    void notice_unused_lines();

    pm::Command program_;  // of the command line, until it has been handed out
    std::vector<ProgramPart> parts_;
    ProgramModel model_;
    bool newjob_;
    SplitRules rules_;
    pm::TaskMap map_;
    std::optional<pm::CommandsFile> commands_;
    std::size_t next_line_ = 0;  // in commands_
    int lines_read_ = 0;         // from lines_
    int steps_ = 0;              // handed out
    bool interactive_;
    bool quit_ = false;
    bool ended_ = false;
    LineSource lines_;
    Output output_;
    std::vector<Notice> notices_;
};

// A LineSource that reads `fd` one byte at a time, so that nothing after the line is taken from the
// tasks that read the same standard input later. Throws Error when reading fails. Does not own fd.
ProgramPrompt::LineSource lines_of(int fd);

}  // namespace poe::cli
