// Breaks text between words; see fold.hpp.
#include "base/fold.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace poe {
namespace {

// Counts UTF-8 characters, not bytes.
std::size_t width_of(std::string_view word) {
    return static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

// Returns the indentation of lines that continue this line, in bytes.
std::size_t indent_of(std::string_view line, std::size_t most) {
    std::size_t at = line.find_first_not_of(' ');
    if (at == std::string_view::npos) return 0;
    for (std::size_t gap = line.find("  ", at); gap != std::string_view::npos && gap < most;
         gap = line.find("  ", gap)) {
        gap = line.find_first_not_of(' ', gap);
        if (gap == std::string_view::npos || gap > most) break;
        at = gap;
    }
    return at;
}

void fold_line(std::string& out, std::string_view line, std::size_t columns, std::size_t most) {
    const std::size_t start = indent_of(line, most);
    const std::string_view head = line.substr(0, start);
    out += head;
    const std::size_t column = width_of(head);
    // On a very narrow terminal the words need all columns.
    const std::size_t indent = column > columns * 2 / 3 ? 0 : column;
    append_folded(out, line.substr(start), column, indent, columns);
}

}  // namespace

std::size_t terminal_columns(int fd) {
    winsize size = {};
    return ::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void append_folded(std::string& out, std::string_view text, std::size_t column, std::size_t indent,
                   std::size_t columns) {
    bool line_has_words = false;
    while (!text.empty()) {
        const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
        const std::size_t end = std::min(text.find(' ', blanks), text.size());
        const std::string_view word = text.substr(blanks, end - blanks);
        const std::size_t width = width_of(word);
        if (columns > 0 && line_has_words && column + blanks + width > columns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else {
            out.append(blanks, ' ');
            column += blanks;
        }
        for (const char c : word) out += c == kHardBlank ? ' ' : c;
        column += width;
        line_has_words = line_has_words || !word.empty();
        text.remove_prefix(end);
    }
}

std::string fold(std::string_view text, std::size_t columns, std::size_t indent_most) {
    if (columns == 0) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        fold_line(out, text.substr(0, end), columns, indent_most);
        if (end < text.size()) out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string folded_help(std::string_view text, int fd) {
    const std::size_t columns = terminal_columns(fd);
    return fold(text, columns > 0 ? columns : kUsualColumns);
}

}  // namespace poe
