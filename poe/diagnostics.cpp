// See diagnostics.hpp.
#include "poe/diagnostics.hpp"

#include <unistd.h>

#include <fmt/format.h>

namespace poe::cli {

namespace {

void write_line(std::string line) {
    line += '\n';
    const char* at = line.data();
    std::size_t left = line.size();
    while (left > 0) {
        const ssize_t count = ::write(STDERR_FILENO, at, left);
        if (count <= 0) return;  // nobody listens
        at += count;
        left -= static_cast<std::size_t>(count);
    }
}

void write_message(const char* severity, int number, const std::string& text) {
    write_line(fmt::format("{}: 0031-{:03}  {}", severity, number, text));
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
    write_line(text);
}

}  // namespace poe::cli
