// The splitter: one pass over the words, with one state: has the program been seen?
#include "poe/arguments.hpp"

#include <optional>
#include <string_view>

#include "partition_manager/suggest.hpp"
#include "poe/option_words.hpp"
#include "poe/values.hpp"

namespace poe::cli {
namespace {

using pm::nearest;
using pm::quoted;

// How other launchers call what poe calls otherwise.
struct Habit {
    std::string_view theirs;
    std::string_view ours;
};
constexpr Habit kHabits[] = {
    {"n", "-procs"},
    {"np", "-procs"},
    {"c", "-procs"},
    {"ntasks", "-procs"},
    {"numtasks", "-procs"},
    {"machinefile", "-hostfile"},
    {"f", "-hostfile"},
    {"host", "-hostfile"},
    {"hosts", "-hostfile"},
    {"l", "-labelio yes"},
    {"label", "-labelio yes"},
    {"tag-output", "-labelio yes"},
    {"stdin", "-stdinmode"},
    {"output", "-stdoutmode"},
    {"timeout", "-maxtime or MP_TIMEOUT"},
    {"v", "-infolevel 3"},
    {"verbose", "-infolevel 3"},
    {"V", "--version"},
    {"configfile", "-cmdfile"},
    {"app", "-cmdfile"},
    {"?", "-h"},
};

// What is meant by a word that looks like a flag but is none.
std::string probable_flag(std::string_view name) {
    for (const Habit& habit : kHabits)
        if (habit.theirs == name) return std::string(habit.ours);
    for (const OptionRow& row : option_table())
        if (row.names.empty() && pm::same_word(name, row.variable.substr(3)))
            return "the variable " + std::string(row.variable);
    std::vector<std::string_view> known;
    for (const OptionRow& row : option_table()) {
        std::string_view names = row.names;
        for (auto word = next_word(names); !word.empty(); word = next_word(names))
            if (word.size() > 1) known.push_back(word);
    }
    const std::string near = nearest(name, known);
    return near.empty() ? "" : "-" + near;
}

// The NAME in -NAME, --NAME, -NAME=VALUE and --NAME=VALUE.
std::string_view flag_name(std::string_view word) {
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    return word.substr(0, word.find('='));
}

UserError unknown_flag(const std::string& word, std::string_view name) {
    UserError error;
    error.source = "poe";
    error.text = "unknown flag " + quoted(word) + " before the program";
    const std::string meant = probable_flag(name);
    error.expected = meant.empty() ? "\"poe -h\" lists all flags" : "did you mean " + meant + "?";
    return error;
}

UserError missing_value(const OptionRow& row, const std::string& spelling) {
    UserError error;
    error.source = spelling;
    error.text = "its value is missing";
    error.expected = "expected " + allowed_values(row);
    return error;
}

class Splitter {
  public:
    Splitter(const std::vector<std::string>& arguments, SplitRules rules)
        : arguments_(arguments), rules_(std::move(rules)) {}

    Result<SplitArguments> run() {
        while (next_ < end_) {
            const std::string& word = take_word();
            if (!rules_.fence.empty() && word == rules_.fence) {
                pass_rest();
            } else if (split_.program.empty()) {
                if (auto error = before_program(word)) return *error;
            } else if (auto error = after_program(word)) {
                return *error;
            }
        }
        return std::move(split_);
    }

  private:
    const std::string& take_word() { return *next_++; }

    void pass_rest() {
        split_.program.insert(split_.program.end(), next_, end_);
        next_ = end_;
    }

    std::optional<UserError> before_program(const std::string& word) {
        if (word == "--") {
            pass_rest();
            return std::nullopt;
        }
        if (word.empty() || word[0] != '-') {
            split_.program.push_back(word);
            if (rules_.noarglist) pass_rest();
            return std::nullopt;
        }
        const std::size_t equals = word.find('=');
        const std::string spelling = word.substr(0, equals);
        const std::string_view name = flag_name(word);
        const OptionRow* row = find_flag(name);
        if (row == nullptr) return unknown_flag(word, name);
        if (equals == std::string::npos) return take_flag(*row, spelling);
        if (row->kind == ValueKind::kNothing)
            return UserError{spelling, 0, 0,
                             "takes no value, but has " + quoted(word.substr(equals + 1)),
                             "write " + spelling + " alone"};
        add_flag({row, spelling, word.substr(equals + 1)});
        return std::nullopt;
    }

    std::optional<UserError> after_program(const std::string& word) {
        if (word.size() > 1 && word[0] == '-') {
            const bool two_dashes = word[1] == '-';
            const std::size_t equals = word.find('=');
            const OptionRow* row = find_flag(flag_name(word));
            if (row != nullptr && !row->before_program_only) {
                // --dry-run is written with two dashes everywhere; all others with one here.
                if (equals != std::string::npos)
                    split_.passed_lookalikes.push_back(
                        {row, word.substr(0, equals), word.substr(equals + 1)});
                else if (two_dashes && row->kind != ValueKind::kNothing)
                    split_.passed_lookalikes.push_back({row, word, ""});
                else
                    return take_flag(*row, word);
            }
        }
        split_.program.push_back(word);
        return std::nullopt;
    }

    // The flag has been read; its value, if it takes one, is the next word.
    std::optional<UserError> take_flag(const OptionRow& row, const std::string& spelling) {
        std::string value;
        if (row.kind != ValueKind::kNothing) {
            if (next_ == end_) return missing_value(row, spelling);
            value = take_word();
        }
        add_flag({&row, spelling, std::move(value)});
        return std::nullopt;
    }

    void add_flag(FlagUse flag) {
        // A bad value is not told here: whoever reads the values does, once.
        if (flag.row->id == OptionId::kNoarglist) rules_.noarglist = means_yes(flag.value);
        if (flag.row->id == OptionId::kFence) rules_.fence = flag.value;
        // Whoever asks for help gets it, whatever else stands there.
        if (flag.row->id == OptionId::kHelp || flag.row->id == OptionId::kVersion) next_ = end_;
        split_.flags.push_back(std::move(flag));
    }

    const std::vector<std::string>& arguments_;
    SplitRules rules_;
    std::vector<std::string>::const_iterator next_ = arguments_.begin();
    std::vector<std::string>::const_iterator end_ = arguments_.end();
    SplitArguments split_;
};

}  // namespace

Result<SplitArguments> split_arguments(const std::vector<std::string>& arguments,
                                       SplitRules rules) {
    return Splitter(arguments, std::move(rules)).run();
}

}  // namespace poe::cli
