// Merges flags, variables and defaults into Options. The defaults are those of the struct (a test
// compares them with the table), so that a start without any setting checks nothing.
#include "poe/read_options.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/suggest.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/name_pattern.hpp"
#include "poe/arguments.hpp"
#include "poe/option_table.hpp"
#include "poe/option_words.hpp"
#include "poe/values.hpp"

namespace poe::cli {
namespace {

// Variables that poe sets for tasks. They are in its own environment if a task starts poe.
constexpr std::string_view kTaskVariables[] = {"MP_CHILD",    "MP_PARTITION",   "MP_SEGMENT",
                                               "MP_CONTROL",  "MP_TUNING",      "MP_PLANTEXT",
                                               "MP_DEBUGGED", "MP_LOCAL_CHILD", "MP_LOCAL_PROCS"};

// Variables that have no flag of poe; the tasks' library reads them (mpl(3)). Any other name with
// this beginning is a mistake.
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
            if (use.row->is("h")) return answer_only(Request::kHelp, same_word(use.value, "all"));
            if (use.row->is("version")) return answer_only(Request::kVersion);
            if (use.row->later)
                options_.notices.push_back(of_later_versions(use.spelling));
            else
                last_use_[use.row] = &use;
        }
        if (auto error = read_programs(split.value())) return *error;
        for (const OptionRow& row : option_table())
            if (auto error = read_row(row)) return *error;
        if (auto error = split_remote_shell()) return *error;
        if (auto error = complete_procs()) return *error;
        if (auto error = check_patterns()) return *error;
        if (auto error = check_together()) return *error;
        notice_combinations();
        for (const Lookalike& word : split.value().lookalikes) notice_lookalike(word);
        notice_later_variables();
        notice_misspelled_variables();
        return std::move(options_);
    }

  private:
    static Options answer_only(Request request, bool all_help = false) {
        Options options;
        options.request = request;
        options.all_help = all_help;
        return options;
    }

    // Reads the programs and the settings of each of them. read_row checks all flags again; only
    // the number of tasks of each part is needed here.
    std::optional<UserError> read_programs(SplitArguments& split) {
        options_.program = split.programs[0];
        std::vector<pm::CommandPlace> places(split.programs.size());
        for (const FlagUse& use : split.flags) {
            pm::CommandPlace& place = places[use.part];
            if (use.row->is("wdir")) place.directory = use.value;
            if (!use.row->is("x")) continue;
            if (use.value.empty() || use.value.front() == '=')
                return UserError{use.spelling,
                                 0,
                                 0,
                                 "there is no name in " + in_quotes(use.value),
                                 "expected NAME or NAME=VALUE",
                                 0};
            place.environment.push_back(use.value);
        }
        if (split.programs.size() == 1) {
            options_.place = std::move(places[0]);
            return std::nullopt;
        }
        for (std::size_t part = 0; part < places.size(); ++part)
            options_.parts.push_back({std::move(split.programs[part]), 1, std::move(places[part])});
        return count_parts(split.flags);
    }

    std::optional<UserError> count_parts(const std::vector<FlagUse>& flags) {
        const OptionRow& row = option_row("procs");
        for (const FlagUse& use : flags) {
            if (use.row != &row) continue;
            if (!use.before_program)
                return UserError{use.spelling,
                                 0,
                                 0,
                                 "the job has several programs, each with its own number of tasks",
                                 "expected -n or -np before each program instead",
                                 0};
            const auto value = read_value(row, use.spelling, use.value);
            if (!value) return value.error();
            options_.parts[use.part].tasks = static_cast<TaskId>(value.value().number);
        }
        std::int64_t all = 0;
        for (const ProgramPart& part : options_.parts) all += part.tasks;
        if (all > row.high)
            return UserError{"-n",
                             0,
                             0,
                             std::to_string(all) + " tasks are too many",
                             "expected at most " + std::to_string(row.high) + " in all",
                             0};
        all_tasks_ = {&row, "-n", std::to_string(all), 0, true};
        last_use_[&row] = &all_tasks_;
        return std::nullopt;
    }

    // Returns the variable if it is set and not empty. An empty MP_HOSTFILE has a meaning, so it
    // counts as set.
    const std::string* variable(const OptionRow& row) const {
        if (row.variable.empty()) return nullptr;
        const auto found = environment_.find(row.variable);
        if (found == environment_.end()) return nullptr;
        if (found->second.empty() && !row.is("hostfile")) return nullptr;
        return &found->second;
    }

    SplitRules rules_from_variables() const {
        SplitRules rules;
        if (const auto* text = variable(option_row("noarglist")))
            rules.noarglist = means_yes(*text);
        if (const auto* text = variable(option_row("fence"))) rules.fence = *text;
        return rules;
    }

    // Reads the row's flag, or its variable if there is no flag. A variable that a flag overrides
    // is not even checked.
    std::optional<UserError> read_row(const OptionRow& row) {
        const auto use = last_use_.find(&row);
        const FlagUse* flag = use == last_use_.end() ? nullptr : use->second;
        const std::string* text = flag != nullptr ? &flag->value : variable(row);
        if (text == nullptr) return std::nullopt;
        const std::string source = flag != nullptr ? flag->spelling : std::string(row.variable);
        auto value = read_value(row, source, *text);
        if (!value) return value.error();
        options_.origins[std::string(row.key())] =
            flag != nullptr ? Options::Origin{Source::kFlag, display_name(row)}
                            : Options::Origin{Source::kVariable, std::string(row.variable)};
        if (row.implemented()) row.apply(options_, value.value());
        if (flag != nullptr && !row.variable.empty())
            options_.task_environment.push_back(std::string(row.variable) + "=" +
                                                value.value().text);
        if (!row.implemented() && !same_word(value.value().text, row.default_value))
            options_.notices.push_back(
                ignored(source + " " + in_quotes(value.value().text) +
                        " is ignored: this version of poe has no such function"));
        return std::nullopt;
    }

    std::optional<UserError> check_patterns() const {
        const std::pair<std::string_view, const std::string*> patterns[] = {
            {"MP_LABELFORMAT", &options_.label_format},
            {"outfile", &options_.outfile},
            {"errfile", &options_.errfile}};
        for (const auto& [key, pattern] : patterns)
            if (const auto trouble = pm::pattern_trouble(*pattern, key == "MP_LABELFORMAT"))
                return UserError{options_.origin(key),
                                 0,
                                 0,
                                 *trouble + " in " + in_quotes(*pattern),
                                 key == "MP_LABELFORMAT" ? "expected %r, %R, %h, %j, %t, %s or %%"
                                                         : "expected %r, %R, %h, %j or %%",
                                 0};
        const auto mode = options_.stdout_mode.kind;
        if (pm::tells_time(options_.label_format) &&
            (mode == pm::StdoutMode::Kind::kOrdered || mode == pm::StdoutMode::Kind::kFolded))
            return UserError{options_.origin("stdoutmode"),
                             0,
                             0,
                             "lines that are kept have no time (%t and %s of MP_LABELFORMAT)",
                             "expected unordered, or the number of a task",
                             0};
        return std::nullopt;
    }

    // If -procs is not given, -nodes determines the number of tasks.
    std::optional<UserError> complete_procs() {
        const bool open = options_.source("procs") == Source::kDefault;
        if (open && options_.nodes > 0)
            options_.procs = options_.nodes * std::max(options_.tasks_per_node, 1);
        if (!open || options_.nodes > 0 || options_.tasks_per_node == 0) return std::nullopt;
        return UserError{options_.origin("tasks_per_node"),
                         0,
                         0,
                         "it does not say how many tasks or nodes there are",
                         "expected -nodes or -procs, too",
                         0};
    }

    // MP_REMOTE_SHELL is one text with several words.
    std::optional<UserError> split_remote_shell() {
        if (options_.source("MP_REMOTE_SHELL") == Source::kDefault) return std::nullopt;
        auto words =
            pm::split_command(options_.remote_shell.front(), options_.origin("MP_REMOTE_SHELL"), 0);
        if (!words) return words.error();
        options_.remote_shell = std::move(words.value());
        if (!options_.remote_shell.empty()) return std::nullopt;
        return UserError{options_.origin("MP_REMOTE_SHELL"), 0, 0, "the command is blank",
                         "expected a command such as ssh",   0};
    }

    std::optional<UserError> check_together() const {
        if (!options_.program.empty() && options_.program.front().empty())
            return UserError{"poe", 0, 0, "the program's name is empty", "expected a program", 0};
        if (options_.stdin_mode.kind == pm::StdinMode::Kind::kOne)
            if (auto error = check_task("stdinmode", options_.stdin_mode.task)) return error;
        if (options_.stdout_mode.kind == pm::StdoutMode::Kind::kOne)
            return check_task("stdoutmode", options_.stdout_mode.task);
        return std::nullopt;
    }

    std::optional<UserError> check_task(std::string_view key, TaskId task) const {
        if (task < options_.procs) return std::nullopt;
        UserError error;
        error.source = options_.origin(key);
        error.text = "there is no task " + std::to_string(task);
        error.expected =
            "the job has " + std::to_string(options_.procs) +
            (options_.procs == 1 ? " task, 0"
                                 : " tasks, 0 to " + std::to_string(options_.procs - 1)) +
            " (" + options_.origin("procs") + ")";
        return error;
    }

    void notice_combinations() {
        const bool has_program = !options_.program.empty();
        if (has_program && options_.parts.empty() &&
            options_.program_model == ProgramModel::kMpmd && !options_.newjob)
            options_.notices.push_back(
                ignored(options_.origin("pgmmodel") +
                        " mpmd is ignored: all tasks run the program of the command line"));
        if (has_program && !options_.commands_file.empty() && !options_.newjob)
            options_.notices.push_back(ignored(
                options_.origin("cmdfile") +
                " is ignored: the command line names a program, and there is no -newjob yes"));
        if (options_.retry_count > 0 && !options_.retry_until_ready && options_.retry.count() == 0)
            options_.notices.push_back(
                ignored(options_.origin("retrycount") + " is ignored: there is no -retry"));
    }

    // Reports words that were passed to the program although poe was probably meant. A number of
    // tasks in mpirun's form is no mistake if the number is already known, or equals the number
    // that poe uses anyway.
    void notice_lookalike(const Lookalike& word) {
        if (word.of_mpirun && (options_.source("procs") != Source::kDefault || options_.nodes > 0 ||
                               word.value == "1"))
            return;
        // Other programs, too, have flags such as --nodes and --report=x.
        const bool exact = find_flag(flag_name(word.typed)) == word.row;
        if (exact && !word.row->is("procs")) return;
        std::string own = display_name(*word.row);
        if (!word.value.empty()) own += " " + word.value;
        options_.notices.push_back(
            ignored(in_quotes(word.typed) + " was passed to the program, because it stands after " +
                    "it; " +
                    (word.of_mpirun ? "the number of tasks is set by " + in_quotes(own) +
                                          ", or by " + in_quotes(word.typed) + " before the program"
                                    : "poe's own flag is " + in_quotes(own))));
    }

    static Notice of_later_versions(const std::string& name) {
        return ignored(name +
                       " is ignored: it belongs to later versions of IBM's Parallel "
                       "Environment and has no counterpart in this poe");
    }

    void notice_later_variables() {
        for (const OptionRow& row : later_options())
            if (variable(row) != nullptr)
                options_.notices.push_back(of_later_versions(std::string(row.variable)));
    }

    void notice_misspelled_variables() {
        for (const auto& [name, value] : environment_) {
            if (find_variable(name) != nullptr || is_later_variable(name)) continue;
            const auto* end = std::end(kTaskVariables);
            if (std::find(std::begin(kTaskVariables), end, name) != end) continue;
            const std::string_view meant = probable_variable(name);
            if (meant.empty()) continue;
            options_.notices.push_back(ignored(in_quotes(name) +
                                               " in the environment is not known; did you mean " +
                                               std::string(meant) + "?"));
        }
    }

    // Stricter than for flags, because other programs have MP_ variables, too.
    static bool is_later_variable(std::string_view name) {
        const auto rows = later_options();
        return std::any_of(rows.begin(), rows.end(),
                           [name](const OptionRow& row) { return row.variable == name; });
    }

    static std::string_view probable_variable(std::string_view name) {
        if (name.size() > 40) return {};
        if (name.starts_with(kCollectiveStart)) return probable_collective(name);
        const std::size_t tolerance = name.size() > 10 ? 2 : 1;
        for (const OptionRow& row : option_table())
            if (!row.variable.empty() && edit_distance(name, row.variable) <= tolerance)
                return row.variable;
        return {};
    }

    // Returns the nearest name; empty if the name is one of them.
    static std::string_view probable_collective(std::string_view name) {
        const auto* nearest =
            std::min_element(std::begin(kCollectiveVariables), std::end(kCollectiveVariables),
                             [name](std::string_view a, std::string_view b) {
                                 return edit_distance(name, a) < edit_distance(name, b);
                             });
        return *nearest == name ? std::string_view{} : *nearest;
    }

    const std::vector<std::string>& arguments_;
    const Environment& environment_;
    std::map<const OptionRow*, const FlagUse*> last_use_;
    FlagUse all_tasks_;  // if there are several programs: acts as -n with their sum
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

Result<Options> read_options(const std::vector<std::string>& arguments,
                             const Environment& environment) {
    return OptionReader(arguments, environment).run();
}

}  // namespace poe::cli
