// Lays out the option table for a terminal of 80 columns.
#include "poe/help.hpp"

#include "poe/option_words.hpp"

namespace poe::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHelpColumn = 29;
constexpr char kHardBlank = '\x01';  // a blank at which a line is not broken

constexpr std::string_view kUsage =
    R"(Usage: poe [flags] [program] [program arguments and flags, in any order]

Runs a parallel job: -procs tasks, each running the program, with their input,
output and exit status carried to this terminal.

  poe ./ring -procs 4 -labelio yes              4 tasks, with labelled lines
  poe --dry-run ./ring -procs 8                 show which task would run where
  poe -pgmmodel mpmd -cmdfile jobs -procs 3     a program of its own for each

poe takes its own flags out of the command line and passes the rest to the
program, untouched. `poe -- program ...` passes all that follows the program.
Without a program, poe reads commands from -cmdfile or asks for them.

A flag beats its variable, both beat the default: [VARIABLE=default].
Flags marked (not yet) are known, but have no effect in this version.
)";

// Appends `text` to `out` word by word, starting at `column`, continued lines indented to `indent`.
void append_wrapped(std::string& out, std::string_view text, std::size_t column,
                    std::size_t indent) {
    bool first = true;
    for (auto word = next_word(text); !word.empty(); word = next_word(text)) {
        if (!first && column + 1 + word.size() > kColumns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        for (const char c : word) out += c == kHardBlank ? ' ' : c;
        column += word.size();
        first = false;
    }
    out += '\n';
}

// "number of tasks [MP_PROCS=1] (not yet)"
std::string explanation(const OptionRow& row) {
    std::string out(row.help);
    const std::string fallback(row.default_value);
    if (row.names.empty()) {
        if (!fallback.empty()) out += " [default" + std::string(1, kHardBlank) + fallback + "]";
    } else if (!row.variable.empty()) {
        out += " [" + std::string(row.variable) + (fallback.empty() ? "" : "=") + fallback + "]";
    }
    if (!row.implemented) out += " (not" + std::string(1, kHardBlank) + "yet)";
    return out;
}

void append_row(std::string& out, const OptionRow& row) {
    std::string left = flag_synopsis(row);
    if (row.names.empty()) left = std::string(row.variable) + "=" + left;
    out += "  " + left;
    std::size_t column = 2 + left.size();
    if (column + 2 > kHelpColumn) {
        out += '\n';
        column = 0;
    }
    out += std::string(kHelpColumn - column, ' ');
    append_wrapped(out, explanation(row), kHelpColumn, kHelpColumn);
}

}  // namespace

std::string help_text() {
    std::string out(kUsage);
    for (auto group = OptionGroup{}; group <= kLastGroup;
         group = static_cast<OptionGroup>(static_cast<int>(group) + 1)) {
        out += "\n" + std::string(group_title(group)) + ":\n";
        for (const OptionRow& row : option_table())
            if (row.group == group) append_row(out, row);
    }
    out += "\nMore: man poe, man poe-hostfile\n";
    return out;
}

std::string version_text(std::string_view version) {
    return "poe " + std::string(version) + "\n";
}

}  // namespace poe::cli
