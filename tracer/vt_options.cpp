// See vt_options.hpp.
#include "tracer/vt_options.hpp"

#include "partition_manager/suggest.hpp"

namespace poe::trace {
namespace {

using Request = VtOptions::Request;

const std::vector<std::string_view> kFlags = {"summary", "diff", "json", "h", "help", "version"};

UserError mistake(std::string text, std::string expected) {
    return UserError{"", 0, 0, std::move(text), std::move(expected), 0};
}

}  // namespace

Result<VtOptions> read_vt_options(const std::vector<std::string>& arguments) {
    VtOptions options;
    for (const std::string& word : arguments) {
        if (word.size() < 2 || word[0] != '-') {
            if (word.empty() || word == "-")
                return mistake("there is no trace " + pm::quoted(word), "name a file or a folder");
            options.traces.push_back(word);
            continue;
        }
        const std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
        if (name == "summary") {
            options.request = Request::kSummary;
        } else if (name == "diff") {
            options.request = Request::kDiff;
        } else if (name == "json") {
            options.json = true;
        } else if (name == "h" || name == "help") {
            options.request = Request::kHelp;
            return options;
        } else if (name == "version") {
            options.request = Request::kShowVersion;
            return options;
        } else {
            const std::string near = pm::nearest(name, kFlags);
            return mistake("there is no flag " + pm::quoted(word),
                           near.empty() ? "vt -h shows them all" : "did you mean -" + near + "?");
        }
    }
    const std::size_t wanted = options.request == Request::kDiff ? 2 : 1;
    if (options.traces.size() < wanted)
        return mistake(
            wanted == 2 ? "-diff needs two traces" : "there is no trace to play",
            "as in vt " + std::string(wanted == 2 ? "-diff before.poet after.poet" : "run.poet"));
    if (options.traces.size() > wanted)
        return mistake("one trace too many: " + pm::quoted(options.traces[wanted]),
                       "-diff A B compares two");
    if (options.json && options.request != Request::kSummary)
        return mistake("-json is for -summary", "as in vt -summary -json run.poet");
    return options;
}

}  // namespace poe::trace
