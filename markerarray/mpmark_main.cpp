// mpmark: sets a light, the text or the progress of the task in which it runs, for scripts and
// programs in any language.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/fold.hpp"
#include "base/parse.hpp"
#include "base/suggest.hpp"
#include "markerarray/client/client.hpp"
#include "terminal/colors.hpp"

namespace {

using namespace poe::markers;
using namespace poe::terminal;

constexpr int kErrorStatus = 2;

constexpr const char* kHelp =
    "Usage: mpmark LIGHT COLOR [TEXT...]\n"
    "       mpmark -text TEXT...\n"
    "       mpmark -progress DONE TOTAL\n"
    "\n"
    "Sets a light, the text or the progress of this task in the marker array (pmarray), from a "
    "program that poe has started. Does nothing outside of such a program.\n"
    "\n"
    "  LIGHT  0 to 99, from the left\n"
    "  COLOR  0 to 102, or black brown green blue purple red orange yellow white grey\n"
    "  TEXT   80 columns are shown; without a text it stays as it is\n"
    "\n"
    "See also man mpmark.\n";

int refuse(const std::string& what) {
    std::cerr << poe::fold("mpmark: " + what + "; mpmark -h shows how it is used",
                           poe::terminal_columns(STDERR_FILENO), 0)
              << "\n";
    return kErrorStatus;
}

template <typename Number>
bool read_number(const std::string& word, Number& number) {
    const auto parsed = poe::parse_number<Number>(word);
    if (parsed) number = *parsed;
    return parsed.has_value();
}

std::string joined(const std::vector<std::string>& words, std::size_t from) {
    std::string text;
    for (std::size_t i = from; i < words.size(); ++i) text += (i > from ? " " : "") + words[i];
    return text;
}

std::vector<std::string_view> color_words() {
    std::vector<std::string_view> words;
    for (const NamedColor& color : kNamedColors) words.push_back(color.name);
    return words;
}

int run(const std::vector<std::string>& words, const MarkerClient& client) {
    if (words[0] == "-text") {
        client.mark(-1, 0, joined(words, 1));
        return 0;
    }
    if (words[0] == "-progress") {
        std::int64_t done = 0;
        std::int64_t total = 0;
        if (words.size() != 3 || !read_number(words[1], done) || !read_number(words[2], total))
            return refuse("-progress needs two whole numbers, what is done and of how many");
        client.progress(done, total);
        return 0;
    }
    int light = 0;
    if (!read_number(words[0], light))
        return refuse("\"" + words[0] + "\" is not the number of a light");
    if (words.size() < 2) return refuse("a colour is missing");
    int color = 0;
    if (const auto named = color_named(words[1]))
        color = *named;
    else if (!read_number(words[1], color))
        return refuse("\"" + words[1] + "\" is not a colour" +
                      poe::did_you_mean(words[1], color_words()));
    if (words.size() > 2)
        client.mark(light, color, joined(words, 2));
    else
        client.mark(light, color, std::nullopt);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (words.empty()) return refuse("a light and a colour are missing");
    if (words[0] == "-h" || words[0] == "-help" || words[0] == "--help") {
        std::cout << poe::folded_help(kHelp, STDOUT_FILENO) << std::flush;
        return std::cout ? 0 : kErrorStatus;
    }
    if (words[0] == "-version" || words[0] == "--version") {
        std::cout << "mpmark " POE_VERSION "\n" << std::flush;
        return std::cout ? 0 : kErrorStatus;
    }
    const MarkerClient client([](const char* name) { return std::getenv(name); });
    const int status = run(words, client);
    if (status != 0 || client.failure().empty()) return status;
    std::cerr << "mpmark: " << client.failure() << "\n";
    return kErrorStatus;
}
