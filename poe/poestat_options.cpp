// See poestat_options.hpp.
#include "poe/poestat_options.hpp"

#include <algorithm>

#include "base/parse.hpp"
#include "base/suggest.hpp"

namespace poe::cli {
namespace {

constexpr int kDefaultInterval = 2;
constexpr int kMaxInterval = 86400;

const std::vector<std::string_view> kFlags = {"a", "deadlock", "json", "nodes",  "pools",
                                              "w", "h",        "help", "version"};

UserError unknown_flag(const std::string& word, std::string_view name) {
    const std::string near = nearest(name, kFlags);
    return {"",
            0,
            0,
            "there is no flag " + in_quotes(word),
            near.empty() ? "poestat -h shows them all" : "did you mean -" + near + "?",
            0};
}

bool is_number(const std::string& word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<StatOptions> read_stat_options(const std::vector<std::string>& arguments) {
    StatOptions options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word.size() < 2 || word[0] != '-') {
            if (word.empty() || word == "-")
                return UserError{"",
                                 0,
                                 0,
                                 "there is no job " + in_quotes(word),
                                 "poestat without arguments shows them all",
                                 0};
            if (!options.job.empty())
                return UserError{
                    "",
                    0,
                    0,
                    "one job at a time: " + in_quotes(options.job) + ", " + in_quotes(word),
                    "give one, or none for all",
                    0};
            options.job = word;
            continue;
        }
        const std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
        if (name == "a") {
            options.all_users = true;
        } else if (name == "deadlock") {
            options.deadlock = true;
        } else if (name == "json") {
            options.json = true;
        } else if (name == "nodes") {
            options.nodes = true;
        } else if (name == "pools") {
            options.pools = true;
        } else if (name == "h" || name == "help") {
            options.request = StatOptions::Request::kHelp;
        } else if (name == "version") {
            options.request = StatOptions::Request::kVersion;
        } else if (name == "w") {
            int seconds = kDefaultInterval;
            // A number after -w is the interval, so a pid must precede -w.
            if (i + 1 < arguments.size() && is_number(arguments[i + 1])) {
                const std::string& value = arguments[++i];
                seconds = parse_number<int>(value).value_or(0);
                if (seconds < 1 || seconds > kMaxInterval)
                    return UserError{"-w",
                                     0,
                                     0,
                                     "bad interval " + in_quotes(value),
                                     "expected 1 to " + std::to_string(kMaxInterval) + " seconds",
                                     0};
            }
            options.every = std::chrono::seconds(seconds);
        } else {
            return unknown_flag(word, name);
        }
    }
    if (options.pools && (options.deadlock || options.nodes || !options.job.empty()))
        return UserError{
            "-pools", 0, 0, "-pools shows no jobs", "leave out the job, -nodes and -deadlock", 0};
    if (options.nodes && options.deadlock)
        return UserError{"-nodes", 0, 0, "-nodes shows no jobs", "leave out -deadlock", 0};
    return options;
}

std::string stat_help_text() {
    return "Usage: poestat [flags] [job]\n"
           "\n"
           "Shows the parallel jobs of poe that run on this computer, or what each task of one job "
           "does. A job is its name, the beginning of it, or the process number of its poe.\n"
           "\n"
           "  -deadlock     look for tasks that wait for each other forever; exit status 1 if "
           "there are any\n"
           "  -a            jobs of all users (as root)\n"
           "  -pools        the nodes of each pool, and how jobs use them\n"
           "  -nodes [FILE] the load of the nodes of a host file, or of all pools\n"
           "  -json         as JSON\n"
           "  -w [SECONDS]  again every 2 (or SECONDS) seconds\n"
           "  -h, -version  this text; the version\n"
           "\n"
           "Exit status: 0, 1 if a deadlock was found, 2 after an error. See also man poestat.\n";
}

}  // namespace poe::cli
