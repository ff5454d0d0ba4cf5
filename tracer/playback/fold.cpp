// Implementation of fold.hpp.
#include "tracer/playback/fold.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/grid.hpp"

namespace poe::trace {
namespace {

// Returns the indentation of lines that continue this line.
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

// Breaks a line between words if it is too long.
void fold_line(std::string& out, std::string_view line, int columns, std::size_t most) {
    if (terminal::columns_of(line) <= columns) {
        out += line;
        return;
    }
    std::size_t indent = indent_of(line, most);
    out += line.substr(0, indent);
    line.remove_prefix(indent);
    // On a very narrow terminal the words need all the room.
    if (static_cast<int>(indent) > columns * 2 / 3) indent = 0;
    int at = terminal::columns_of(out.substr(out.rfind('\n') + 1));
    bool first = true;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
        const int wide = terminal::columns_of(word);
        if (!first && at + 1 + wide > columns) {
            out.append("\n").append(indent, ' ');
            at = static_cast<int>(indent);
        } else if (!first) {
            out += ' ';
            ++at;
        }
        out += word;
        at += wide;
        first = false;
    }
}

}  // namespace

std::string fold(std::string_view text, int columns, std::size_t indent_most) {
    if (columns <= 0) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        fold_line(out, text.substr(0, end), columns, indent_most);
        if (end < text.size()) out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

int columns_of_terminal(int descriptor) {
    winsize size{};
    if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

}  // namespace poe::trace
