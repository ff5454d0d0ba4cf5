// The splitter makes one pass over the words; its state is whether the program has been seen.
#include "poe/arguments.hpp"

#include <optional>
#include <string_view>

#include "base/suggest.hpp"
#include "poe/option_words.hpp"
#include "poe/values.hpp"

namespace poe::cli {
namespace {

constexpr std::size_t kLongestName = 20;

// Names of other launchers for flags of poe.
struct Habit {
    std::string_view theirs;
    std::string_view ours;
};
constexpr Habit kHabits[] = {
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

// Returns the flag that was probably meant by a word that looks like a flag but is none.
std::string probable_flag(std::string_view name) {
    for (const Habit& habit : kHabits)
        if (habit.theirs == name) return std::string(habit.ours);
    for (const OptionRow& row : option_table())
        if (row.names.empty() && same_word(name, row.variable.substr(3)))
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

// Returns the flag that was probably meant by a word after the program. Most of these words belong
// to the program, so only long names and close misses count.
const OptionRow* nearly_flag(std::string_view name) {
    constexpr std::size_t kShortest = 4;
    constexpr std::size_t kLong = 8;
    if (name.size() < kShortest || name.size() > 2 * kLongestName) return nullptr;
    for (const OptionRow& row : option_table()) {
        std::string_view names = row.names;
        for (auto word = next_word(names); !word.empty(); word = next_word(names)) {
            const std::size_t distance = edit_distance(name, word);
            if (word.size() > kShortest && distance <= (word.size() > kLong ? 2U : 1U)) return &row;
        }
    }
    return nullptr;
}

// True if values of this kind can be distinguished from other words.
bool has_telling_value(const OptionRow& row) {
    return row.kind == ValueKind::kYesNo || row.kind == ValueKind::kChoice ||
           row.kind == ValueKind::kNumber || row.kind == ValueKind::kNumberOrWord ||
           row.kind == ValueKind::kSize;
}

bool fits(const OptionRow& row, const std::string& value) {
    return has_telling_value(row) && read_value(row, "", value).ok();
}

UserError unknown_flag(const std::string& word, std::string_view name) {
    UserError error;
    error.source = "poe";
    error.text = "unknown flag " + in_quotes(word) + " before the program";
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

UserError empty_part(bool last) {
    UserError error;
    error.source = "poe";
    error.text =
        last ? "there is no program after the last \":\"" : "there is no program before a \":\"";
    error.expected = "expected programs with their flags, as in -n 2 ./a : -n 3 ./b";
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
            } else if (as_mpirun_ && word == ":") {
                if (program().empty()) return empty_part(false);
                split_.programs.emplace_back();
            } else if (program().empty()) {
                if (auto error = before_program(word)) return *error;
            } else if (auto error = after_program(word)) {
                return *error;
            }
        }
        if (split_.programs.size() > 1 && program().empty() && !stopped_) return empty_part(true);
        return std::move(split_);
    }

  private:
    const std::string& take_word() { return *next_++; }
    pm::Command& program() { return split_.programs.back(); }

    void pass_rest() {
        program().insert(program().end(), next_, end_);
        next_ = end_;
    }

    std::optional<UserError> before_program(const std::string& word) {
        if (word == "--") {
            pass_rest();
            return std::nullopt;
        }
        if (word.empty() || word[0] != '-') {
            program().push_back(word);
            if (rules_.noarglist) pass_rest();
            return std::nullopt;
        }
        const std::size_t equals = word.find('=');
        const std::string spelling = word.substr(0, equals);
        const std::string_view name = flag_name(word);
        const OptionRow* row = find_early_flag(name);
        if (row == nullptr) return unknown_flag(word, name);
        if (find_flag(name) == nullptr && split_.programs.size() == 1) as_mpirun_ = true;
        if (equals == std::string::npos) return take_flag(*row, spelling, true);
        if (row->kind == ValueKind::kNothing)
            return UserError{spelling, 0, 0,
                             "takes no value, but has " + in_quotes(word.substr(equals + 1)),
                             "write " + spelling + " alone"};
        add_flag({row, spelling, word.substr(equals + 1), split_.programs.size() - 1, true});
        return std::nullopt;
    }

    std::optional<UserError> after_program(const std::string& word) {
        if (word.size() > 1 && word[0] == '-') {
            const OptionRow* row = find_flag(flag_name(word));
            const bool is_flag = row != nullptr && !row->before_program_only;
            // --dry-run has two dashes everywhere; after the program all other flags have one.
            const bool exact = word.find('=') == std::string::npos &&
                               (word[1] != '-' || (is_flag && row->kind == ValueKind::kNothing));
            if (is_flag && exact) return take_flag(*row, word, false);
            note_lookalike(word, is_flag ? row : nullptr);
        }
        program().push_back(word);
        return std::nullopt;
    }

    // `row` is the flag of which `word` is another spelling, or null.
    void note_lookalike(const std::string& word, const OptionRow* row) {
        const std::string_view name = flag_name(word);
        const std::size_t equals = word.find('=');
        std::string value;
        if (equals != std::string::npos)
            value = word.substr(equals + 1);
        else if (next_ != end_)
            value = *next_;
        Lookalike found{row, word, value, false};
        if (row == nullptr && (name == "n" || name == "np")) {
            found.row = find_early_flag(name);
            found.of_mpirun = true;
        } else if (row == nullptr) {
            found.row = nearly_flag(name);
        }
        if (found.row == nullptr) return;
        if (!fits(*found.row, value)) {
            // Without a valid value only -procs is worth a message.
            if (row == nullptr || !row->is("procs")) return;
            found.value.clear();
        } else if (equals == std::string::npos) {
            found.typed += " " + value;
        }
        split_.lookalikes.push_back(std::move(found));
    }

    // The flag has been read. If it takes a value, the next word is its value.
    std::optional<UserError> take_flag(const OptionRow& row, const std::string& spelling,
                                       bool before_program) {
        std::string value;
        if (row.kind != ValueKind::kNothing) {
            if (next_ == end_) return missing_value(row, spelling);
            value = take_word();
        }
        add_flag({&row, spelling, std::move(value), split_.programs.size() - 1, before_program});
        return std::nullopt;
    }

    void add_flag(FlagUse flag) {
        // An invalid value is not reported here, because the reader of the values reports it.
        if (flag.row->is("noarglist")) rules_.noarglist = means_yes(flag.value);
        if (flag.row->is("fence")) rules_.fence = flag.value;
        // A request for help or the version is answered, whatever follows.
        if (flag.row->is("h") || flag.row->is("version")) {
            if (next_ != end_) flag.value = *next_;
            next_ = end_;
            stopped_ = true;
        }
        split_.flags.push_back(std::move(flag));
    }

    const std::vector<std::string>& arguments_;
    SplitRules rules_;
    std::vector<std::string>::const_iterator next_ = arguments_.begin();
    std::vector<std::string>::const_iterator end_ = arguments_.end();
    bool as_mpirun_ = false;  // -n or -np precedes the first program, so ':' separates programs
    bool stopped_ = false;    // a request for help has stopped the splitting
    SplitArguments split_;
};

}  // namespace

std::string_view flag_name(std::string_view word) {
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    return word.substr(0, word.find('='));
}

Result<SplitArguments> split_arguments(const std::vector<std::string>& arguments,
                                       SplitRules rules) {
    return Splitter(arguments, std::move(rules)).run();
}

}  // namespace poe::cli
