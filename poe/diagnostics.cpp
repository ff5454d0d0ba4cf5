// See diagnostics.hpp.
#include "poe/diagnostics.hpp"

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fold.hpp"
#include "base/open_lines.hpp"
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

// True if both descriptors are one terminal, file or pipe.
bool are_same(int a, int b) {
    struct stat of_a = {};
    struct stat of_b = {};
    return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

// A message does not continue an incomplete line of a task.
bool begins_within_line() {
    return ends_within_line(STDERR_FILENO) ||
           (ends_within_line(STDOUT_FILENO) && are_same(STDOUT_FILENO, STDERR_FILENO));
}

void write_line(std::string line) {
    if (begins_within_line()) line.insert(0, 1, '\n');
    note_open_line(STDERR_FILENO, false);
    if (are_same(STDOUT_FILENO, STDERR_FILENO)) note_open_line(STDOUT_FILENO, false);
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
