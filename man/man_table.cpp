// Build-time program: writes poe.1 from poe.1.in. Two words in the template are replaced: a line
// @OPTIONS@ by the option table in troff, and @VERSION@ by the version.
// Usage: man_table VERSION TEMPLATE OUTPUT
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "poe/option_words.hpp"

namespace {

using poe::cli::OptionRow;

// A text line in troff: no character has a special meaning, and every '-' is one that can be
// copied.
std::string escaped(std::string_view text) {
    std::string out;
    if (!text.empty() && (text[0] == '.' || text[0] == '\'')) out = "\\&";
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    return out;
}

std::string row_text(const OptionRow& row) {
    std::string heading = poe::cli::flag_synopsis(row);
    if (row.names.empty()) heading = std::string(row.variable) + "=" + heading;
    std::string out = ".TP\n\\fB" + escaped(heading) + "\\fR\n";
    std::string help(row.help);
    help[0] = static_cast<char>(help[0] >= 'a' && help[0] <= 'z' ? help[0] - 'a' + 'A' : help[0]);
    if (row.is("euilib")) help = row.help;  // begins with a value
    out += escaped(help) + ".\n";
    if (row.kind != poe::cli::ValueKind::kNothing)
        out += "Value: " + escaped(poe::cli::allowed_values(row)) + ".\n";
    if (!row.variable.empty() && !row.names.empty())
        out += "Variable: \\fB" + escaped(row.variable) + "\\fR.\n";
    if (!row.default_value.empty()) out += "Default: \\fB" + escaped(row.default_value) + "\\fR.\n";
    if (row.before_program_only) out += "Only before the program.\n";
    return out;
}

std::string table_text() {
    std::string out;
    auto group = static_cast<poe::cli::OptionGroup>(-1);
    for (const OptionRow& row : poe::cli::option_table()) {
        if (!row.implemented()) continue;
        if (row.group != group) out += ".SS " + escaped(poe::cli::group_title(row.group)) + "\n";
        group = row.group;
        out += row_text(row);
    }
    return out;
}

// The flags that are accepted without an effect, in one paragraph.
std::string without_effect() {
    std::string out;
    for (const OptionRow& row : poe::cli::option_table()) {
        if (row.implemented()) continue;
        if (!out.empty()) out += ",\n";
        out += "\\fB\\-" + escaped(row.key()) + "\\fR (" + escaped(row.variable) + ")";
    }
    return out + ".\n";
}

void replace_all(std::string& text, const std::string& word, const std::string& with) {
    for (std::size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + with.size()))
        text.replace(at, word.size(), with);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: man_table VERSION TEMPLATE OUTPUT\n");
        return 1;
    }
    const std::ifstream file(argv[2]);
    std::ostringstream content;
    content << file.rdbuf();
    std::string page = content.str();
    if (page.find("@OPTIONS@\n") == std::string::npos) {
        std::fprintf(stderr, "man_table: %s cannot be read, or has no line @OPTIONS@\n", argv[2]);
        return 1;
    }
    replace_all(page, "@OPTIONS@\n", table_text());
    replace_all(page, "@WITHOUT_EFFECT@\n", without_effect());
    replace_all(page, "@VERSION@", argv[1]);
    std::ofstream out(argv[3]);
    out << page << std::flush;
    if (!out) std::fprintf(stderr, "man_table: cannot write %s\n", argv[3]);
    return out ? 0 : 1;
}
