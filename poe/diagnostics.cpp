// See diagnostics.hpp.
#include "poe/diagnostics.hpp"

#include <termios.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fold.hpp"
#include "base/suggest.hpp"

namespace poe::cli {

namespace {

constexpr std::size_t kIndent = 7;

// True if the terminal is in raw mode (-pty). It then needs a carriage return before each line
// feed.
bool is_raw(int fd) {
    termios settings = {};
    return ::tcgetattr(fd, &settings) == 0 && (settings.c_oflag & OPOST) == 0;
}

void write_line(std::string line) {
    line += '\n';
    if (is_raw(STDERR_FILENO))
        for (std::size_t at = line.find('\n'); at != std::string::npos;
             at = line.find('\n', at + 2))
            line.insert(at, 1, '\r');
    const char* at = line.data();
    std::size_t left = line.size();
    while (left > 0) {
        const ssize_t count = ::write(STDERR_FILENO, at, left);
        if (count <= 0) return;  // there is no reader
        at += count;
        left -= static_cast<std::size_t>(count);
    }
}

// On a terminal long messages are broken between words; scripts get one line.
void write_message(const char* severity, int number, const std::string& text) {
    std::string message;
    append_folded(message, fmt::format("{}: 0031-{:03}  {}", severity, number, visible(text)), 0,
                  kIndent, terminal_columns(STDERR_FILENO));
    write_line(std::move(message));
}

}  // namespace

void Diagnostics::error(int number, const std::string& text) const {
    write_message("ERROR", number, text);
}

void Diagnostics::error(const UserError& mistake) const {
    error(mistake.number != 0 ? mistake.number : kUserMistake, mistake.str());
}

void Diagnostics::attention(int number, const std::string& text) const {
    if (infolevel_ >= 1) write_message("ATTENTION", number, text);
}

void Diagnostics::info(int number, const std::string& text) const {
    if (infolevel_ >= 2) write_message("INFO", number, text);
}

void Diagnostics::detail(const std::string& text) const {
    // Output of a task is shown unchanged.
    const bool quotation = text.find_first_not_of(' ') == text.find('|') && !text.empty();
    std::string shown;
    append_folded(shown, visible(text), 0, kIndent + 2,
                  quotation ? 0 : terminal_columns(STDERR_FILENO));
    write_line(std::move(shown));
}

}  // namespace poe::cli
