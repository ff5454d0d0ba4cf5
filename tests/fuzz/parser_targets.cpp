// What each parser promises: an error points into the text and can be shown; a result means the
// same when it is written down and read again; no word of a program is touched.
#include "tests/fuzz/parser_targets.hpp"

#include <algorithm>
#include <optional>

#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/host_file.hpp"
#include "poe/options.hpp"
#include "poe/program_prompt.hpp"
#include "poe/read_options.hpp"

namespace poe::fuzz {
namespace {

using namespace cli;
using Words = std::vector<std::string>;

bool can_be_shown(const std::string& text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Line and column must be in the text; column may be just behind the line.
std::string check_error(const UserError& error, const std::string& input) {
    if (!can_be_shown(error.str())) return "the message has control characters";
    if (error.text.empty()) return "the message is empty";
    if (error.expected.empty()) return "the message does not say what is expected";
    Words lines(1);
    for (const char c : input)
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    if (error.line < 0 || error.line > static_cast<int>(lines.size())) return "no such line";
    if (error.line == 0) return error.column == 0 ? "" : "a column without a line";
    const std::size_t length = lines[static_cast<std::size_t>(error.line - 1)].size();
    if (error.column < 0 || error.column > static_cast<int>(length) + 1) return "no such column";
    return "";
}

// ---- host file

std::string written(const pm::HostFile& file) {
    static constexpr const char* kAdapter[] = {"", " shared", " dedicated"};
    static constexpr const char* kCpu[] = {"", " multiple", " unique"};
    std::string text;
    for (const pm::HostLine& line : file.lines)
        text += (line.is_pool ? "@" : "") + line.name +
                kAdapter[static_cast<int>(line.adapter_use)] +
                kCpu[static_cast<int>(line.cpu_use)] + "\n";
    return text;
}

std::string run_host_file(const std::string& input) {
    const auto file = pm::parse_host_file(input, "file");
    if (!file) return check_error(file.error(), input);
    int before = 0;
    for (const pm::HostLine& line : file.value().lines) {
        if (line.name.empty() || line.name.size() > 255) return "a name without a sensible length";
        if (!can_be_shown(line.name)) return "a name with control characters";
        if (line.line <= before) return "lines are not in order";
        if (line.is_pool != file.value().lines[0].is_pool) return "nodes and pools are mixed";
        before = line.line;
    }
    const std::string text = written(file.value());
    const auto again = pm::parse_host_file(text, "again");
    if (!again) return "cannot be read again: " + again.error().str();
    return written(again.value()) == text ? "" : "is read differently again";
}

// ---- commands file

std::string run_commands_file(const std::string& input) {
    const auto file = pm::parse_commands_file(input, "file");
    if (!file) return check_error(file.error(), input);
    for (const pm::CommandLine& line : file.value().lines) {
        if (line.words.empty()) return "a command without words";
        std::string text;
        bool plain = true;
        for (const std::string& word : line.words) {
            text += pm::shell_quoted(word) + " ";
            plain = plain && can_be_shown(word);
        }
        if (!can_be_shown(text)) return "a quoted word cannot be shown";
        if (!plain) continue;  // shown with \xNN, which only a shell reads back
        const auto again = pm::split_command(text, "again", 1);
        if (!again) return "cannot be read again: " + again.error().str();
        if (again.value() != line.words) return "is read differently again: " + text;
    }
    return "";
}

// ---- arguments

// The first line of the input is the environment ("MP_X=1;MP_Y=2"), each other line an argument.
struct CommandLineInput {
    Environment environment;
    Words arguments;
};

CommandLineInput command_line_of(const std::string& input) {
    Words lines(1);
    for (const char c : input)
        if (c == '\n')
            lines.emplace_back();
        else if (c != '\0')  // no argument and no variable can hold it
            lines.back() += c;
    Words settings(1);
    for (const char c : lines[0])
        if (c == ';')
            settings.emplace_back();
        else
            settings.back() += c;
    std::vector<const char*> block;
    for (const std::string& setting : settings) block.push_back(setting.c_str());
    block.push_back(nullptr);
    return {mp_variables(block.data()), Words(lines.begin() + 1, lines.end())};
}

bool is_subsequence(const Words& part, const Words& whole) {
    std::size_t found = 0;
    for (const std::string& word : whole)
        if (found < part.size() && part[found] == word) ++found;
    return found == part.size();
}

// The rule for words behind a program, written a second time: flags with one dash and their values
// go, flags without a value also with two dashes, all else stays. Nothing when a value is missing.
std::optional<Words> without_flags(const Words& words) {
    Words kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool one_dash = word.size() > 1 && word[0] == '-' && word[1] != '-';
        const bool two_dashes = word.size() > 2 && word[0] == '-' && word[1] == '-';
        const OptionRow* row = one_dash     ? find_flag(word.substr(1))
                               : two_dashes ? find_flag(word.substr(2))
                                            : nullptr;
        if (row == nullptr || row->before_program_only ||
            (two_dashes && row->kind != ValueKind::kNothing)) {
            kept.push_back(word);
        } else if (row->kind != ValueKind::kNothing && ++i == words.size()) {
            return std::nullopt;
        }
    }
    return kept;
}

std::string check_behind_program(const Words& words) {
    Words arguments = {"program"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto split = split_arguments(arguments, {});
    const auto expected = without_flags(words);
    if (split.ok() != expected.has_value()) return "a missing value is seen differently";
    if (!split) return "";
    Words program = {"program"};
    program.insert(program.end(), expected->begin(), expected->end());
    return split.value().programs == std::vector<Words>{program}
               ? ""
               : "the program's words were changed";
}

std::string run_arguments(const std::string& input) {
    const CommandLineInput line = command_line_of(input);
    const auto options = read_options(line.arguments, line.environment);
    if (!options) {
        std::string wrong = check_error(options.error(), input);
        if (!wrong.empty()) return wrong;
    } else {
        const Options& o = options.value();
        if (!is_subsequence(o.program, line.arguments))
            return "a word of the program is not the user's";
        if (o.procs < 1 || o.procs > 1048576) return "procs out of range";
        if (o.stdin_mode.task >= o.procs && o.stdin_mode.task != 0)
            return "stdinmode names no task";
        if (o.infolevel < 0 || o.infolevel > 6) return "infolevel out of range";
        for (const Notice& notice : o.notices)
            if (!can_be_shown(notice.str())) return "a notice has control characters";
        for (const std::string& variable : o.task_environment)
            if (variable.substr(0, 3) != "MP_") return "a task's variable that is not ours";
    }
    return check_behind_program(line.arguments);
}

// ---- prompt

// Two tasks load what the input's lines say, with job steps.
std::string run_prompt(const std::string& input) {
    for (const ProgramModel model : {ProgramModel::kSpmd, ProgramModel::kMpmd}) {
        std::size_t at = 0;
        std::size_t shown = 0;
        Options options;
        options.program_model = model;
        options.newjob = true;
        ProgramPrompt prompt(
            options, {{"home"}, {0, 0}}, std::nullopt, input.size() % 2 == 0,
            [&]() -> std::optional<std::string> {
                if (at >= input.size()) return std::nullopt;
                const std::size_t end = std::min(input.find('\n', at), input.size());
                const std::string line = input.substr(at, end - at);
                at = end + 1;
                return line;
            },
            [&](std::string_view text) { shown += text.size(); });
        for (std::size_t steps = 0;; ++steps) {
            if (steps > input.size() + 1) return "does not end";
            const auto step = prompt.next();
            if (!step && !can_be_shown(step.error().str())) return "the message cannot be shown";
            if (!step || !step.value()) break;
            if (step.value()->command_of_task.size() != 2) return "not a command for each task";
            for (const auto index : step.value()->command_of_task)
                if (step.value()->commands.at(index).empty()) return "a command without words";
        }
    }
    return "";
}

}  // namespace

const std::vector<FuzzTarget>& parser_targets() {
    static const std::vector<FuzzTarget> all = {
        {"host_file",
         run_host_file,
         {"\n", " ", "\t", "\r\n", "!", "*", "@", "@1", "#", ":", "shared", "dedicated", "multiple",
          "unique", "localhost", "n1.example.org", "::1", "\xef\xbb\xbf",
          std::string_view("\0", 1)}},
        {"commands_file",
         run_commands_file,
         {"\n", " ", "\t", "\r\n", "!", "*", "#", "'", "\"", "\\", "\\\\", "''", "\"\"", "$HOME",
          "quit", "./prog", "\xef\xbb\xbf", std::string_view("\0", 1)}},
        {"arguments",
         run_arguments,
         {"\n",
          "-",
          "--",
          "-procs\n4",
          "-procs\n",
          "--procs=2",
          "-labelio\nyes",
          "-h",
          "-hfile\n",
          "\n\n",
          "=",
          ";",
          "-fence\nF",
          "F",
          "-noarglist\nyes",
          "MP_PROCS=3;",
          "MP_NOARGLIST=yes;",
          "MP_FENCE=F;",
          "-dry-run",
          "-stdinmode\n1",
          "99999999999999999999",
          "64M",
          "-buffer_mem\n",
          "prog\n"}},
        {"prompt",
         run_prompt,
         {"\n", " ", "quit", "quit\n", "'", "\"", "\\", "!", "-procs 4", "-tlevel 9",
          "./prog a b\n"}},
    };
    return all;
}

}  // namespace poe::fuzz
