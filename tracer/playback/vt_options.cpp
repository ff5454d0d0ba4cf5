// Implementation of vt_options.hpp.
#include "tracer/playback/vt_options.hpp"

#include <algorithm>
#include <array>

#include "base/parse.hpp"
#include "base/suggest.hpp"
#include "tracer/analysis/index.hpp"
#include "tracer/playback/paper.hpp"
#include "tracer/profile/flame.hpp"

namespace poe::trace {
namespace {

using Request = VtOptions::Request;

UserError mistake(std::string text, std::string expected) {
    return UserError{"", 0, 0, std::move(text), std::move(expected), 0};
}

std::optional<int> number_of(std::string_view text) {
    const auto number = parse_number<int>(text);
    return number && *number >= 0 ? number : std::nullopt;
}

// Parses a list such as "0-3,7".
std::optional<std::set<TaskId>> tasks_of(std::string_view text) {
    constexpr int kMost = 1 << 20;
    std::set<TaskId> tasks;
    while (true) {
        const std::string_view part = text.substr(0, text.find(','));
        const std::size_t dash = part.find('-');
        const auto first = number_of(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last > kMost) return std::nullopt;
        for (int task = *first; task <= *last; ++task) tasks.insert(task);
        if (part.size() == text.size()) return tasks;
        text.remove_prefix(part.size() + 1);
    }
}

bool set_size(VtOptions& options, const std::string& value) {
    constexpr int kMost = 1000;
    const std::size_t by = value.find('x');
    const auto columns = number_of(value.substr(0, by));
    const auto rows = by == std::string::npos ? std::nullopt : number_of(value.substr(by + 1));
    if (!columns || !rows || *columns < 1 || *rows < 1 || *columns > kMost || *rows > kMost)
        return false;
    options.size = {*columns, *rows};
    return true;
}

bool set_view(VtOptions& options, const std::string& value) {
    const auto known = std::find_if(view_names().begin(), view_names().end(),
                                    [&](const ViewName& view) { return view.name == value; });
    if (known == view_names().end()) return false;
    options.view = known->kind;
    options.request = Request::kView;
    return true;
}

constexpr std::array<std::string_view, 4> kFormats{"csv", "chrome", "perfetto", "otf2"};

bool set_format(VtOptions& options, const std::string& value) {
    const auto known = std::find(kFormats.begin(), kFormats.end(), value);
    if (known == kFormats.end()) return false;
    options.format = static_cast<ExportFormat>(known - kFormats.begin());
    options.request = Request::kExport;
    return true;
}

// Returns the part of a file name from its last dot.
std::string_view suffix_of(std::string_view file) {
    const std::size_t slash = file.rfind('/');
    if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
    const std::size_t dot = file.rfind('.');
    return dot == std::string_view::npos || dot == 0 ? "" : file.substr(dot);
}

struct Flag {
    std::string_view name;
    // Sets the option; for a flag with a value, returns false if the value is not allowed.
    bool (*set)(VtOptions&, const std::string&);
    std::string_view allowed;  // empty if `words` tells
    // Returns the allowed values, if there are few.
    std::vector<std::string_view> (*words)() = nullptr;
};

// Returns "timeline, stream or matrix", or what else is allowed.
std::string allowed_words(const Flag& flag) {
    if (flag.words == nullptr) return std::string(flag.allowed);
    const std::vector<std::string_view> words = flag.words();
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
        list.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
    return list;
}

std::vector<std::string_view> names_of_views() {
    std::vector<std::string_view> names;
    for (const ViewName& view : view_names()) names.push_back(view.name);
    return names;
}

std::vector<std::string_view> names_of_formats() {
    return {kFormats.begin(), kFormats.end()};
}

bool set_state(VtOptions& options, const std::string& value) {
    for (std::size_t state = 1; state < kStates; ++state)
        if (state_word(static_cast<State>(state)) == value) {
            options.state = static_cast<State>(state);
            return true;
        }
    return false;
}

std::vector<std::string_view> names_of_states() {
    std::vector<std::string_view> names;
    for (std::size_t state = 1; state < kStates; ++state)
        names.push_back(state_word(static_cast<State>(state)));
    return names;
}

const std::array<Flag, 10> kValued{{
    {"view", set_view, "", names_of_views},
    {"export", set_format, "", names_of_formats},
    {"size", set_size, "columns x lines, as in 120x40"},
    {"tasks",
     [](VtOptions& o, const std::string& v) { return (o.tasks = tasks_of(v)).has_value(); },
     "as in 0-3,7"},
    {"from", [](VtOptions& o, const std::string& v) { return !(o.from = v).empty(); },
     "a time, as in 1.2s or 40%"},
    {"to", [](VtOptions& o, const std::string& v) { return !(o.to = v).empty(); },
     "a time, as in 1.2s or 40%"},
    {"at", [](VtOptions& o, const std::string& v) { return !(o.at = v).empty(); },
     "a time, as in 1.2s or 40%"},
    {"state", set_state, "", names_of_states},
    {"phase", [](VtOptions& o, const std::string& v) { return !(o.phase = v).empty(); },
     "the name of a region of the program"},
    {"o", [](VtOptions& o, const std::string& v) { return !(o.output = v).empty(); },
     "the name of a file"},
}};

bool set_plain(VtOptions& options, std::string_view name) {
    if (name == "summary")
        options.request = Request::kSummary;
    else if (name == "diff")
        options.request = Request::kDiff;
    else if (name == "plan")
        options.request = Request::kPlan;
    else if (name == "merge")
        options.request = Request::kMerge;
    else if (name == "json")
        options.json = true;
    else if (name == "repair" || name == "norepair")
        options.repair = name == "repair";
    else if (name == "asleep")
        options.asleep = true;
    else if (name == "lines")
        options.lines = true;
    else
        return false;
    return true;
}

Result<VtOptions> checked(const VtOptions& options) {
    const std::size_t wanted = options.request == Request::kDiff ? 2 : 1;
    if (options.traces.size() < wanted)
        return mistake(
            wanted == 2 ? "-diff needs two traces" : "there is no trace to play",
            "as in vt " + std::string(wanted == 2 ? "-diff before.trc after.trc" : "run.trc"));
    if (options.traces.size() > wanted)
        return mistake("one trace too many: " + in_quotes(options.traces[wanted]),
                       "-diff A B compares two");
    if (options.json && options.request != Request::kSummary)
        return mistake("-json is for -summary", "as in vt -summary -json run.trc");
    if (!options.output.empty() && options.request != Request::kView &&
        options.request != Request::kExport && options.request != Request::kMerge &&
        options.request != Request::kPlan)
        return mistake("-o is for -view, -export, -merge and -plan",
                       "as in vt -export csv -o run.csv run.trc");
    const bool flame = options.request == Request::kView && options.view == ViewKind::kFlame;
    if ((options.state || !options.phase.empty() || options.asleep) && !flame)
        return mistake("-state, -phase and -asleep are for -view flame",
                       "as in vt -view flame -state computing run.trc");
    const std::string_view suffix = suffix_of(options.output);
    const bool text = suffix.empty() || suffix == ".txt";
    if (suffix == kFoldedSuffix && options.request == Request::kView && !flame)
        return mistake("-o with .folded is for -view flame",
                       "as in vt -view flame -o run.folded run.trc");
    if (options.request == Request::kView && !text && suffix != kFoldedSuffix &&
        !paper_named(options.output))
        return mistake("a view cannot be written as " + in_quotes(suffix),
                       ".svg, .png and .pdf are figures, .txt is text, .folded has call stacks");
    if (options.request == Request::kExport && options.output.empty() &&
        options.format >= ExportFormat::kPerfetto)
        return mistake("-export perfetto and otf2 need -o",
                       "a file, as in -o run.pftrace; for otf2 a new folder");
    return options;
}

}  // namespace

Result<VtOptions> read_vt_options(const std::vector<std::string>& arguments) {
    VtOptions options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word.size() < 2 || word[0] != '-') {
            if (word.empty() || word == "-")
                return mistake("there is no trace " + in_quotes(word), "name a file or a folder");
            // Skips an index, because a shell's `run*` includes the index of run.
            if (!word.ends_with(kIndexSuffix)) options.traces.push_back(word);
            continue;
        }
        const std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
        if (name == "h" || name == "help" || name == "version") {
            options.request = name == "version" ? Request::kShowVersion : Request::kHelp;
            return options;
        }
        if (set_plain(options, name)) continue;
        const auto flag = std::find_if(kValued.begin(), kValued.end(),
                                       [&](const Flag& f) { return f.name == name; });
        if (flag == kValued.end()) {
            std::vector<std::string_view> names{"summary", "diff",   "merge",    "plan", "json",
                                                "lines",   "asleep", "norepair", "help", "version"};
            for (const Flag& known : kValued) names.push_back(known.name);
            const std::string near = nearest(name, names);
            return mistake("there is no flag " + in_quotes(word),
                           near.empty() ? "vt -h shows them all" : "did you mean -" + near + "?");
        }
        if (i + 1 == arguments.size())
            return mistake("-" + std::string(name) + " needs a value", allowed_words(*flag));
        const std::string& value = arguments[++i];
        if (flag->set(options, value)) continue;
        const std::string near = flag->words ? nearest(value, flag->words()) : "";
        return mistake("-" + std::string(name) + " " + in_quotes(value) + " is not allowed",
                       near.empty()
                           ? allowed_words(*flag)
                           : "did you mean " + near + "? Allowed are " + allowed_words(*flag));
    }
    return checked(options);
}

}  // namespace poe::trace
