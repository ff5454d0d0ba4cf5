// Restores a terminal if the program dies from a signal that cannot be handled normally (SIGSEGV
// and similar, SIGABRT). The handler only writes bytes that were prepared before. It is separate
// from Screen because it must call only functions that are safe in a signal handler.
#pragma once

#include <string>
#include <termios.h>

namespace poe::terminal {

// Installs handlers for these signals, which write `bytes` to the terminal `fd`, restore the line
// settings `settings`, and then perform the signal's default action. One use at a time per process.
void rescue_terminal(int fd, const std::string& bytes, const termios& settings);
// Restores the default action of these signals.
void end_rescue();

}  // namespace poe::terminal
