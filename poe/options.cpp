// Merges flags, variables and defaults into Options. Defaults are the struct's own (a test holds
// them against the table's), so that a start without any setting checks nothing.
#include "poe/options.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "partition_manager/commands_file.hpp"
#include "partition_manager/name_pattern.hpp"
#include "partition_manager/suggest.hpp"
#include "poe/apply_value.hpp"
#include "poe/arguments.hpp"
#include "poe/option_words.hpp"
#include "poe/values.hpp"

namespace poe::cli {
namespace {

constexpr int kIgnoredSetting = 378;

// Variables that poe gives to tasks; found in its own environment when a task starts poe.
constexpr std::string_view kTaskVariables[] = {"MP_CHILD", "MP_PARTITION", "MP_SEGMENT",
                                               "MP_CONTROL", "MP_TUNING"};

// Variables that poe has no flags for, and leaves to the tasks' library (mpl(3)). All others that
// begin like the first of them are mistakes.
constexpr std::string_view kCollectiveStart = "MP_COLL_";
constexpr std::string_view kCollectiveVariables[] = {
    "MP_COLL_BCAST",  "MP_COLL_REDUCE", "MP_COLL_COMBINE", "MP_COLL_PREFIX", "MP_COLL_SCATTER",
    "MP_COLL_GATHER", "MP_COLL_CONCAT", "MP_COLL_INDEX",   "MP_COLL_SHIFT",  "MP_COLL_SYNC"};

Notice ignored(std::string text) {
    return {Notice::Severity::kAttention, kIgnoredSetting, std::move(text)};
}

class OptionReader {
  public:
    OptionReader(const std::vector<std::string>& arguments, const Environment& environment)
        : arguments_(arguments), environment_(environment) {}

    Result<Options> run() {
        auto split = split_arguments(arguments_, rules_from_variables());
        if (!split) return split.error();
        for (const FlagUse& use : split.value().flags) {
            if (use.row->id == OptionId::kHelp) return answer_only(Request::kHelp);
            if (use.row->id == OptionId::kVersion) return answer_only(Request::kVersion);
            last_use_[static_cast<std::size_t>(use.row->id)] = &use;
        }
        options_.program = std::move(split.value().program);
        for (const OptionRow& row : option_table())
            if (auto error = read_row(row)) return *error;
        if (auto error = split_remote_shell()) return *error;
        if (auto error = complete_procs()) return *error;
        if (auto error = check_patterns()) return *error;
        if (auto error = check_together()) return *error;
        notice_combinations();
        for (const FlagUse& use : split.value().passed_lookalikes) notice_lookalike(use);
        notice_misspelled_variables();
        return std::move(options_);
    }

  private:
    static Options answer_only(Request request) {
        Options options;
        options.request = request;
        return options;
    }

    // Set and not empty; an empty MP_HOSTFILE means something, and is set.
    const std::string* variable(const OptionRow& row) const {
        if (row.variable.empty()) return nullptr;
        const auto found = environment_.find(row.variable);
        if (found == environment_.end()) return nullptr;
        if (found->second.empty() && row.id != OptionId::kHostfile) return nullptr;
        return &found->second;
    }

    SplitRules rules_from_variables() const {
        SplitRules rules;
        if (const auto* text = variable(option_row(OptionId::kNoarglist)))
            rules.noarglist = means_yes(*text);
        if (const auto* text = variable(option_row(OptionId::kFence))) rules.fence = *text;
        return rules;
    }

    // Reads the row's flag, or else its variable; a variable that is beaten is not even checked.
    std::optional<UserError> read_row(const OptionRow& row) {
        const auto index = static_cast<std::size_t>(row.id);
        const FlagUse* flag = last_use_[index];
        const std::string* text = flag != nullptr ? &flag->value : variable(row);
        if (text == nullptr) return std::nullopt;
        const std::string source = flag != nullptr ? flag->spelling : std::string(row.variable);
        auto value = read_value(row, source, *text);
        if (!value) return value.error();
        options_.sources[index] = flag != nullptr ? Source::kFlag : Source::kVariable;
        apply_value(options_, row, value.value());
        if (flag != nullptr && !row.variable.empty())
            options_.task_environment.push_back(std::string(row.variable) + "=" +
                                                value.value().text);
        if (!row.implemented && !pm::same_word(value.value().text, row.default_value))
            options_.notices.push_back(
                ignored(source + " " + pm::quoted(value.value().text) +
                        " is ignored: this version of poe does not do this yet"));
        return std::nullopt;
    }

    std::optional<UserError> check_patterns() const {
        const std::pair<OptionId, const std::string*> patterns[] = {
            {OptionId::kLabelformat, &options_.label_format},
            {OptionId::kOutfile, &options_.outfile},
            {OptionId::kErrfile, &options_.errfile}};
        for (const auto& [id, pattern] : patterns)
            if (const auto trouble = pm::pattern_trouble(*pattern, id == OptionId::kLabelformat))
                return UserError{options_.origin(id),
                                 0,
                                 0,
                                 *trouble + " in " + pm::quoted(*pattern),
                                 id == OptionId::kLabelformat
                                     ? "expected %r, %R, %h, %j, %t, %s or %%"
                                     : "expected %r, %R, %h, %j or %%",
                                 0};
        const auto mode = options_.stdout_mode.kind;
        if (pm::tells_time(options_.label_format) &&
            (mode == pm::StdoutMode::Kind::kOrdered || mode == pm::StdoutMode::Kind::kFolded))
            return UserError{options_.origin(OptionId::kStdoutmode),
                             0,
                             0,
                             "lines that are kept have no time (%t and %s of MP_LABELFORMAT)",
                             "expected unordered, or the number of a task",
                             0};
        return std::nullopt;
    }

    // -nodes says how many tasks there are, when -procs does not.
    std::optional<UserError> complete_procs() {
        const bool open = options_.source(OptionId::kProcs) == Source::kDefault;
        if (open && options_.nodes > 0)
            options_.procs = options_.nodes * std::max(options_.tasks_per_node, 1);
        if (!open || options_.nodes > 0 || options_.tasks_per_node == 0) return std::nullopt;
        return UserError{options_.origin(OptionId::kTasksPerNode),
                         0,
                         0,
                         "it does not say how many tasks or nodes there are",
                         "expected -nodes or -procs, too",
                         0};
    }

    // MP_REMOTE_SHELL is one text of several words.
    std::optional<UserError> split_remote_shell() {
        if (options_.source(OptionId::kRemoteShell) == Source::kDefault) return std::nullopt;
        auto words = pm::split_command(options_.remote_shell.front(),
                                       options_.origin(OptionId::kRemoteShell), 0);
        if (!words) return words.error();
        options_.remote_shell = std::move(words.value());
        if (!options_.remote_shell.empty()) return std::nullopt;
        return UserError{options_.origin(OptionId::kRemoteShell), 0, 0, "the command is blank",
                         "expected a command such as ssh",        0};
    }

    std::optional<UserError> check_together() const {
        if (!options_.program.empty() && options_.program.front().empty())
            return UserError{"poe", 0, 0, "the program's name is empty", "expected a program", 0};
        if (options_.stdin_mode.kind == pm::StdinMode::Kind::kOne)
            if (auto error = check_task(OptionId::kStdinmode, options_.stdin_mode.task))
                return error;
        if (options_.stdout_mode.kind == pm::StdoutMode::Kind::kOne)
            return check_task(OptionId::kStdoutmode, options_.stdout_mode.task);
        return std::nullopt;
    }

    std::optional<UserError> check_task(OptionId id, TaskId task) const {
        if (task < options_.procs) return std::nullopt;
        UserError error;
        error.source = options_.origin(id);
        error.text = "there is no task " + std::to_string(task);
        error.expected =
            "the job has " + std::to_string(options_.procs) +
            (options_.procs == 1 ? " task, 0"
                                 : " tasks, 0 to " + std::to_string(options_.procs - 1)) +
            " (" + options_.origin(OptionId::kProcs) + ")";
        return error;
    }

    void notice_combinations() {
        const bool has_program = !options_.program.empty();
        if (has_program && options_.program_model == ProgramModel::kMpmd && !options_.newjob)
            options_.notices.push_back(
                ignored(options_.origin(OptionId::kPgmmodel) +
                        " mpmd is ignored: all tasks run the program of the command line"));
        if (has_program && !options_.commands_file.empty() && !options_.newjob)
            options_.notices.push_back(ignored(
                options_.origin(OptionId::kCmdfile) +
                " is ignored: the command line names a program, and there is no -newjob yes"));
        if (options_.retry_count > 0 && !options_.retry_until_ready && options_.retry.count() == 0)
            options_.notices.push_back(ignored(options_.origin(OptionId::kRetrycount) +
                                               " is ignored: there is no -retry"));
    }

    // Only for the word with which a mistake would be felt; programs have --help, --tmpdir, ...
    void notice_lookalike(const FlagUse& use) {
        if (use.row->id != OptionId::kProcs) return;
        const bool alone = use.value.empty();
        options_.notices.push_back(
            ignored(pm::quoted(alone ? use.spelling : use.spelling + "=" + use.value) +
                    " was passed to the program, since it stands behind it; poe's own is " +
                    pm::quoted(alone ? "-procs" : "-procs " + use.value) + " there"));
    }

    void notice_misspelled_variables() {
        for (const auto& [name, value] : environment_) {
            if (find_variable(name) != nullptr) continue;
            const auto* end = std::end(kTaskVariables);
            if (std::find(std::begin(kTaskVariables), end, name) != end) continue;
            const std::string_view meant = probable_variable(name);
            if (meant.empty()) continue;
            options_.notices.push_back(ignored(pm::quoted(name) +
                                               " in the environment is not known; did you mean " +
                                               std::string(meant) + "?"));
        }
    }

    // Stricter than for flags: other programs have MP_ variables, too.
    static std::string_view probable_variable(std::string_view name) {
        if (name.size() > 40) return {};
        if (name.starts_with(kCollectiveStart)) return probable_collective(name);
        const std::size_t tolerance = name.size() > 10 ? 2 : 1;
        for (const OptionRow& row : option_table())
            if (!row.variable.empty() && pm::edit_distance(name, row.variable) <= tolerance)
                return row.variable;
        return {};
    }

    // The nearest; empty: it is one of them.
    static std::string_view probable_collective(std::string_view name) {
        const auto* nearest =
            std::min_element(std::begin(kCollectiveVariables), std::end(kCollectiveVariables),
                             [name](std::string_view a, std::string_view b) {
                                 return pm::edit_distance(name, a) < pm::edit_distance(name, b);
                             });
        return *nearest == name ? std::string_view{} : *nearest;
    }

    const std::vector<std::string>& arguments_;
    const Environment& environment_;
    std::array<const FlagUse*, kOptionCount> last_use_{};
    Options options_;
};

}  // namespace

Environment mp_variables(const char* const* environment_block) {
    Environment variables;
    for (; *environment_block != nullptr; ++environment_block) {
        const char* entry = *environment_block;
        if (std::strncmp(entry, "MP_", 3) != 0) continue;
        const char* equals = std::strchr(entry, '=');
        if (equals != nullptr) variables.emplace(std::string(entry, equals), equals + 1);
    }
    return variables;
}

std::string Notice::str() const {
    std::string digits = std::to_string(number);
    if (digits.size() < 3) digits.insert(0, 3 - digits.size(), '0');
    return (severity == Severity::kAttention ? "ATTENTION: 0031-" : "INFO: 0031-") + digits + "  " +
           text;
}

bool is_shown(Notice::Severity severity, int infolevel) {
    return infolevel >= (severity == Notice::Severity::kAttention ? 1 : 2);
}

std::string Options::origin(OptionId id) const {
    const OptionRow& row = option_row(id);
    switch (source(id)) {
        case Source::kFlag:
            return display_name(row);
        case Source::kVariable:
            return std::string(row.variable);
        case Source::kDefault:
            return "default";
    }
    POE_CHECK(false, static_cast<int>(id));
}

Result<Options> read_options(const std::vector<std::string>& arguments,
                             const Environment& environment) {
    return OptionReader(arguments, environment).run();
}

}  // namespace poe::cli
