// The source of a job's programs: the command line, a commands file, or a dialogue on the terminal.
// Returns one job step after another. Input and output of the dialogue are functions, so that it
// can be tested as text. Source of prompts and words: Parallel Environment, "Operation and Use".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/process_sets.hpp"
#include "partition_manager/job/task_map.hpp"
#include "poe/arguments.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// The commands of the tasks until the next step: task i runs commands[command_of_task[i]]. Equal
// commands are stored once, in order of first appearance, unless the command line has several
// programs. In spmd there is one.
struct JobStep {
    std::vector<pm::Command> commands;
    std::vector<std::uint32_t> command_of_task;  // size = tasks of the job
    // By command, like Options::place. Empty if no command has settings.
    std::vector<pm::CommandPlace> places;
    std::vector<pm::NamedTasks> sets{};  // the process sets that a commands file names
};

// Not thread-safe.
class ProgramPrompt {
  public:
    // Returns the next line without its newline; nothing at the end of input. May block.
    using LineSource = std::function<std::optional<std::string>()>;
    // Shows text to the user at once.
    using Output = std::function<void(std::string_view text)>;

    // Copies what it needs of `options` (program, parts, program model, newjob, noarglist, fence)
    // and of `map` (tasks and node names). `commands` contains the lines of the commands file, if
    // there is one; `lines` is then never called. `interactive`: standard input is a terminal, so
    // prompts are shown, and after an invalid line the error is shown and the line is requested
    // again.
    ProgramPrompt(const Options& options, const pm::TaskMap& map,
                  std::optional<pm::CommandsFile> commands, bool interactive, LineSource lines,
                  Output output);

    // Returns the next job step. Returns nothing after `quit`, at the end of input, or when all
    // steps of a job without -newjob have been returned. Blocks as `lines` does. An invalid or
    // missing line is a UserError; next() must not be called again afterwards.
    //
    //   program on the command line   the first step; with newjob, more come from file or prompt
    //   spmd                          one line for each step; without newjob there is one step
    //   mpmd                          one line for each task makes a step
    Result<std::optional<JobStep>> next();

    // Returns the notices that reading the lines has produced since the last call (trace flags on a
    // line).
    std::vector<Notice> take_notices();

  private:
    using MaybeCommand = Result<std::optional<pm::Command>>;

    Result<std::optional<JobStep>> next_spmd();
    Result<std::optional<JobStep>> next_mpmd();
    // Returns one command from file or lines. Returns nothing at the end of input, or after `quit`,
    // which sets quit_.
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

    pm::Command program_;  // of the command line, until it has been returned
    std::vector<ProgramPart> parts_;
    ProgramModel model_;
    bool newjob_;
    SplitRules rules_;
    pm::TaskMap map_;
    std::optional<pm::CommandsFile> commands_;
    std::size_t next_line_ = 0;  // in commands_
    int lines_read_ = 0;         // from lines_
    int steps_ = 0;              // number of steps returned
    bool interactive_;
    bool quit_ = false;
    bool ended_ = false;
    LineSource lines_;
    Output output_;
    std::vector<Notice> notices_;
};

// Returns a LineSource that reads `fd` byte by byte, so that it takes nothing after the line from
// the tasks that read the same standard input later. Throws Error if reading fails. Does not own
// fd.
ProgramPrompt::LineSource lines_of(int fd);

}  // namespace poe::cli
