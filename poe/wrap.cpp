// See wrap.hpp.
#include "poe/wrap.hpp"

#include <algorithm>
#include <sys/ioctl.h>

namespace poe::cli {

namespace {

// Counts UTF-8 characters, not bytes.
std::size_t width_of(std::string_view word) {
    std::size_t width = 0;
    for (const char c : word)
        if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) ++width;
    return width;
}

}  // namespace

std::size_t terminal_columns(int fd) {
    winsize size = {};
    return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent,
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

}  // namespace poe::cli
