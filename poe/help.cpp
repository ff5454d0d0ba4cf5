// Formats the option table for a terminal.
#include "poe/help.hpp"

#include <algorithm>

#include "base/fold.hpp"
#include "poe/option_words.hpp"

namespace poe::cli {
namespace {

constexpr std::size_t kHelpColumn = 29;
constexpr std::size_t kNarrowest = 50;

constexpr std::string_view kUsage =
    R"(Usage: poe [flags] [program] [program arguments and flags, in any order]
)";

// Paragraphs and examples. Lines that begin with a blank are not wrapped.
constexpr std::string_view kIntroduction =
    R"(
Runs a parallel job: -procs tasks, each running the program, with their input, output and exit status carried to this terminal.

  poe ./ring -procs 4 -labelio yes              4 tasks, with labelled lines
  poe -n 2 ./server : -n 8 ./client             two programs, as with mpirun
  poe --dry-run ./ring -procs 8                 show which task would run where
)";

constexpr std::string_view kRules =
    R"(  poe -pgmmodel mpmd -cmdfile jobs -procs 3     a program of its own for each

poe takes its own flags out of the command line and passes the rest to the program unchanged. `poe -- program ...` passes all words after it. Without a program, poe reads commands from -cmdfile or asks for them.

A flag overrides its variable, and both override the default: [VARIABLE=default].
)";

// The flags that a first job needs; `poe -h` shows only these.
constexpr std::string_view kCommon[] = {"procs",      "hostfile",  "nodes",   "labelio",
                                        "stdoutmode", "stdinmode", "pmarray", "progress",
                                        "maxtime",    "infolevel", "report",  "tracelevel",
                                        "bind",       "dry-run",   "version"};

// "number of tasks [MP_PROCS=1]"
std::string explanation(const OptionRow& row) {
    std::string out(row.help);
    const std::string fallback(row.default_value);
    if (row.names.empty()) {
        if (!fallback.empty()) out += " [default" + std::string(1, kHardBlank) + fallback + "]";
    } else if (!row.variable.empty()) {
        out += " [" + std::string(row.variable) + (fallback.empty() ? "" : "=") + fallback + "]";
    }
    return out;
}

void append_row(std::string& out, const OptionRow& row, std::size_t columns) {
    std::string left = flag_synopsis(row);
    if (row.names.empty()) left = std::string(row.variable) + "=" + left;
    out += "  " + left;
    std::size_t column = 2 + left.size();
    if (column + 2 > kHelpColumn) {
        out += '\n';
        column = 0;
    }
    out += std::string(kHelpColumn - column, ' ');
    append_folded(out, explanation(row), kHelpColumn, kHelpColumn, columns);
    out += '\n';
}

void append_paragraphs(std::string& out, std::string_view text, std::size_t columns) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        append_folded(out, line, 0, 0, line.starts_with(' ') ? 0 : columns);
        out += '\n';
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::string short_help_text(std::size_t columns) {
    columns = std::max(columns, kNarrowest);
    std::string out(kUsage);
    append_paragraphs(out, kIntroduction, columns);
    out += "\nThe most common flags, with their variables and defaults:\n";
    for (const std::string_view key : kCommon) append_row(out, option_row(key), columns);
    out += "\n";
    append_paragraphs(out,
                      "poe -h all shows all flags. More: man poe, man poe-hostfile, "
                      "man poe-tutorial\n",
                      columns);
    return out;
}

std::string help_text(std::size_t columns) {
    columns = std::max(columns, kNarrowest);
    std::string out(kUsage);
    append_paragraphs(out, kIntroduction, columns);
    append_paragraphs(out, kRules, columns);
    for (auto group = OptionGroup{}; group <= kLastGroup;
         group = static_cast<OptionGroup>(static_cast<int>(group) + 1)) {
        out += "\n" + std::string(group_title(group)) + ":\n";
        for (const OptionRow& row : option_table())
            if (row.group == group && row.implemented()) append_row(out, row, columns);
    }
    out += "\nMore: man poe, man poe-hostfile, man poe-tutorial\n";
    return out;
}

std::string version_text(std::string_view version) {
    return "poe " + std::string(version) + "\n";
}

}  // namespace poe::cli
