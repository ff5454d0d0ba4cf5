// Job steps from the three sources.
#include "poe/program_prompt.hpp"

#include <cerrno>
#include <map>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "poe/arguments.hpp"

namespace poe::cli {
namespace {

constexpr std::size_t kLongestLine = 4 << 20;  // longer than the system passes to a program

const char kStepPrompt[] = "Enter program name (or quit): ";

// True for flags that are allowed on the line of one task.
bool is_trace_flag(const OptionRow& row) {
    return &row >= &option_row("tracelevel") && &row <= &option_row("sample");
}

bool is_quit(const pm::Command& words) {
    return words.size() == 1 && words[0] == "quit";
}

UserError on_line(const std::string& source, int line, std::string text, std::string expected) {
    UserError error;
    error.source = source;
    error.line = line;
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

// Collects commands; equal ones are stored once.
class StepBuilder {
  public:
    void add(pm::Command words) {
        const auto next = static_cast<std::uint32_t>(step_.commands.size());
        const auto [known, is_new] = index_.try_emplace(words, next);
        if (is_new) step_.commands.push_back(std::move(words));
        step_.command_of_task.push_back(known->second);
    }
    JobStep take() { return std::move(step_); }

  private:
    JobStep step_;
    std::map<pm::Command, std::uint32_t> index_;
};

}  // namespace

ProgramPrompt::ProgramPrompt(const Options& options, const pm::TaskMap& map,
                             std::optional<pm::CommandsFile> commands, bool interactive,
                             LineSource lines, Output output)
    : program_(options.program),
      parts_(options.parts),
      model_(options.program_model),
      newjob_(options.newjob),
      rules_{options.noarglist, options.fence},
      map_(map),
      commands_(std::move(commands)),
      interactive_(interactive && !commands_),
      lines_(std::move(lines)),
      output_(std::move(output)) {}

Result<std::optional<JobStep>> ProgramPrompt::next() {
    using Answer = Result<std::optional<JobStep>>;
    if (ended_) return Answer(std::nullopt);
    if (!program_.empty()) {
        ended_ = !newjob_;
        steps_ = 1;
        pm::Command program = std::exchange(program_, {});
        return Answer(parts_.empty() ? same_for_all(std::move(program)) : step_of_parts());
    }
    Answer step = model_ == ProgramModel::kSpmd ? next_spmd() : next_mpmd();
    if (!step || !step.value()) ended_ = true;
    if (ended_) return step;
    ++steps_;
    if (!newjob_) {
        ended_ = true;
        notice_unused_lines();
    }
    return step;
}

std::vector<Notice> ProgramPrompt::take_notices() {
    return std::exchange(notices_, {});
}

JobStep ProgramPrompt::same_for_all(pm::Command words) const {
    JobStep step;
    step.commands.push_back(std::move(words));
    step.command_of_task.assign(map_.node_of_task.size(), 0);
    return step;
}

// Each part is a separate command, even if two are equal, because their settings may differ.
JobStep ProgramPrompt::step_of_parts() const {
    JobStep step;
    for (const ProgramPart& part : parts_) {
        step.command_of_task.insert(step.command_of_task.end(),
                                    static_cast<std::size_t>(part.tasks),
                                    static_cast<std::uint32_t>(step.commands.size()));
        step.commands.push_back(part.program);
        step.places.push_back(part.place);
    }
    return step;
}

Result<std::optional<JobStep>> ProgramPrompt::next_spmd() {
    using Answer = Result<std::optional<JobStep>>;
    auto words = next_command(kStepPrompt);
    if (!words) return words.error();
    if (!words.value() && steps_ == 0 && !quit_ && !interactive_) return no_program();
    if (!words.value()) return Answer(std::nullopt);
    return Answer(same_for_all(std::move(*words.value())));
}

Result<std::optional<JobStep>> ProgramPrompt::next_mpmd() {
    using Answer = Result<std::optional<JobStep>>;
    StepBuilder step;
    std::vector<pm::NamedTasks> sets;
    for (std::size_t task = 0; task < map_.node_of_task.size(); ++task) {
        const std::string& node = map_.nodes.at(static_cast<std::size_t>(map_.node_of_task[task]));
        auto words = next_command(std::to_string(task) + ":" + node + "> ");
        if (!words) return words.error();
        if (!words.value() && quit_) return Answer(std::nullopt);
        if (!words.value() && (task > 0 || commands_)) {
            if (task == 0 && steps_ > 0) return Answer(std::nullopt);
            return missing_commands(task);
        }
        if (!words.value() && steps_ == 0 && !interactive_) return no_program();
        if (!words.value()) return Answer(std::nullopt);
        step.add(std::move(*words.value()));
        if (!commands_) continue;
        for (const std::string& name : commands_->lines[next_line_ - 1].sets)
            pm::add_to_set(sets, pm::kUserSet + name, static_cast<TaskId>(task));
    }
    if (interactive_) output_("Partition loaded...\n");
    JobStep taken = step.take();
    taken.sets = std::move(sets);
    return Answer(std::move(taken));
}

ProgramPrompt::MaybeCommand ProgramPrompt::next_command(const std::string& prompt) {
    for (;;) {
        if (interactive_) output_(prompt);
        auto words = commands_ ? next_from_file() : next_from_lines();
        if (words && words.value() && is_quit(*words.value())) {
            quit_ = true;
            return MaybeCommand(std::nullopt);
        }
        if (words || !interactive_) return words;
        output_("ERROR: " + words.error().str() + "\n");
    }
}

ProgramPrompt::MaybeCommand ProgramPrompt::next_from_file() {
    if (next_line_ == commands_->lines.size()) return MaybeCommand(std::nullopt);
    const pm::CommandLine& line = commands_->lines[next_line_++];
    return strip_flags(line.words, commands_->path, line.line);
}

ProgramPrompt::MaybeCommand ProgramPrompt::next_from_lines() {
    while (auto text = lines_()) {
        ++lines_read_;
        if (pm::is_blank_or_comment(*text)) {
            if (interactive_) return blank_line();
            continue;
        }
        auto words = pm::split_command(*text, "standard input", lines_read_);
        if (!words) return words.error();
        return strip_flags(std::move(words.value()), "standard input", lines_read_);
    }
    if (interactive_) output_("\n");  // the cursor is after the prompt
    return MaybeCommand(std::nullopt);
}

UserError ProgramPrompt::blank_line() const {
    return on_line("", 0, "no program on the line",
                   "expected a program and its arguments, or quit");
}

ProgramPrompt::MaybeCommand ProgramPrompt::strip_flags(pm::Command words, const std::string& source,
                                                       int line) {
    if (is_quit(words)) return MaybeCommand(std::move(words));
    if (words[0].empty() || words[0][0] == '-')
        return on_line(source, line, in_quotes(words[0]) + " is not a program",
                       "expected a program, then its arguments");
    auto split = split_arguments(words, rules_);
    if (!split) return on_line(source, line, split.error().str(), "");
    for (const FlagUse& use : split.value().flags) {
        if (!is_trace_flag(*use.row))
            return on_line(source, line,
                           use.spelling + " is a flag of poe for the whole job, not for one line",
                           "put it on poe's command line; if the program has such a flag, use "
                           "MP_NOARGLIST=yes or MP_FENCE");
        notices_.push_back(
            {Notice::Severity::kAttention, kIgnoredSetting,
             source + ":" + std::to_string(line) + ": " + use.spelling +
                 " is ignored: this flag holds for the whole job; give it on the command line"});
    }
    if (split.value().programs[0].empty())
        return on_line(source, line, "no program on the line", "expected one after the fence");
    return MaybeCommand(std::move(split.value().programs[0]));
}

UserError ProgramPrompt::missing_commands(std::size_t loaded) const {
    const std::size_t tasks = map_.node_of_task.size();
    UserError error;
    error.source = commands_ ? commands_->path : "standard input";
    error.text =
        "commands for " + std::to_string(loaded) + " of " + std::to_string(tasks) + " tasks";
    if (steps_ > 0) error.text += " in job step " + std::to_string(steps_ + 1);
    error.expected = "expected one line for each task (-pgmmodel mpmd)";
    if (loaded > 0 && steps_ == 0) error.expected += ", or -procs " + std::to_string(loaded);
    return error;
}

UserError ProgramPrompt::no_program() const {
    UserError error;
    error.source = commands_ ? commands_->path : "poe";
    error.text = commands_ ? "there is no command in the commands file" : "no program to run";
    error.expected = commands_
                         ? "expected a program and its arguments on a line"
                         : "expected one on the command line, in -cmdfile, or on standard input";
    return error;
}

void ProgramPrompt::notice_unused_lines() {
    if (!commands_ || next_line_ == commands_->lines.size()) return;
    const std::size_t rest = commands_->lines.size() - next_line_;
    notices_.push_back({Notice::Severity::kAttention, kIgnoredSetting,
                        commands_->path + ":" + std::to_string(commands_->lines[next_line_].line) +
                            ": " + std::to_string(rest) + (rest == 1 ? " command" : " commands") +
                            " from here on ignored: no further job steps without -newjob yes"});
}

ProgramPrompt::LineSource lines_of(int fd) {
    return [fd]() -> std::optional<std::string> {
        std::string line;
        for (;;) {
            char byte = 0;
            const ssize_t count = ::read(fd, &byte, 1);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw_errno("cannot read commands from standard input");
            if (count == 0 && line.empty()) return std::nullopt;
            if (count == 0 || byte == '\n') return line;
            line += byte;
            if (line.size() > kLongestLine)
                throw Error("a command on standard input is longer than 4 MB");
        }
    };
}

}  // namespace poe::cli
