// See raw_terminal.hpp.
#include "poe/raw_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace poe::cli {

std::optional<pm::TerminalSpec> terminal_size() {
    for (const int fd : {STDOUT_FILENO, STDIN_FILENO}) {
        winsize size = {};
        if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
            return pm::TerminalSpec{true, size.ws_row, size.ws_col};
    }
    return std::nullopt;
}

RawTerminal::RawTerminal() {
    come_back();
}

RawTerminal::~RawTerminal() {
    leave();
}

void RawTerminal::leave() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
    before_.reset();
}

void RawTerminal::come_back() {
    termios settings = {};
    if (before_ || ::tcgetattr(STDIN_FILENO, &settings) != 0 ||
        ::tcgetpgrp(STDIN_FILENO) != ::getpgrp())
        return;
    before_ = settings;
    ::cfmakeraw(&settings);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
}

}  // namespace poe::cli
