// Implementation of pmarray_options.hpp.
#include "markerarray/pmarray_options.hpp"

#include "base/suggest.hpp"

namespace poe::markers {
namespace {

const std::vector<std::string_view> kFlags = {"once", "json", "lines", "filter",
                                              "sort", "h",    "help",  "version"};

UserError mistake(std::string text, std::string expected) {
    return UserError{"", 0, 0, std::move(text), std::move(expected), 0};
}

std::vector<std::string_view> sort_words() {
    std::vector<std::string_view> words;
    for (std::size_t key = 0; key < kSortKeys; ++key)
        words.push_back(sort_word(static_cast<SortBy>(key)));
    return words;
}

}  // namespace

Result<ArrayOptions> read_array_options(const std::vector<std::string>& arguments) {
    ArrayOptions options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word.size() < 2 || word[0] != '-') {
            if (word.empty() || word == "-")
                return mistake("there is no job " + in_quotes(word),
                               "pmarray without arguments shows the newest");
            if (!options.job.empty())
                return mistake("one job at a time, not " + in_quotes(word),
                               "give one, or none for the newest");
            options.job = word;
            continue;
        }
        const std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
        const bool has_value = i + 1 < arguments.size();
        if (name == "once") {
            options.once = true;
        } else if (name == "json") {
            options.json = true;
        } else if (name == "lines") {
            options.lines = true;
        } else if (name == "h" || name == "help") {
            options.request = ArrayOptions::Request::kHelp;
        } else if (name == "version") {
            options.request = ArrayOptions::Request::kVersion;
        } else if (name == "filter") {
            if (!has_value) return mistake("-filter needs a value", "as in -filter state=waiting");
            options.filter_text = arguments[++i];
            Result<Filter> filter = Filter::parse(options.filter_text);
            if (!filter) return filter.error();
            options.filter = filter.value();
        } else if (name == "sort") {
            const std::string value = has_value ? arguments[++i] : "";
            std::size_t key = 0;
            while (key < kSortKeys && sort_word(static_cast<SortBy>(key)) != value) ++key;
            if (key == kSortKeys)
                return mistake("-sort " + in_quotes(value) + " is not allowed",
                               "task, state, cpu, memory, traffic, wait, progress or text" +
                                   did_you_mean(value, sort_words()));
            options.sort = static_cast<SortBy>(key);
        } else {
            const std::string near = nearest(name, kFlags);
            return mistake(
                "there is no flag " + in_quotes(word),
                near.empty() ? "pmarray -h shows them all" : "did you mean -" + near + "?");
        }
    }
    return options;
}

std::string array_help_text() {
    return "Usage: pmarray [flags] [job]\n"
           "\n"
           "Shows the lights, texts and progress of a parallel job's tasks (mp_marker, mpmark), "
           "and what each task does, while it runs. Without a job: the newest of yours on this "
           "computer, or the next one that poe starts. A job is its name, the beginning of it, or "
           "the process number of its poe. On the screen, ? shows all keys.\n"
           "\n"
           "  -filter TEXT  only tasks for which all words hold: state=waiting, node=n3, "
           "rank=0-63,70, or any text\n"
           "  -sort KEY     by task, state, cpu, memory, traffic, wait, progress or text\n"
           "  -once         a table of the job as it is now\n"
           "  -lines        a line for each change; this is the default without a terminal\n"
           "  -json         a line of JSON for each change; with -once, for each task\n"
           "  -h, -version  this text; the version\n"
           "\n"
           "Exit status: 0, or 2 after an error. See also man pmarray.\n";
}

}  // namespace poe::markers
