// Puts a terminal back when the program dies of a signal that it cannot handle in order (SIGSEGV
// and its like, SIGABRT): a handler that only writes bytes prepared before. Apart from Screen
// because it must not call anything that is not safe in a signal handler.
#pragma once

#include <string>
#include <termios.h>

namespace poe::terminal {

// From now on, on these signals: writes `bytes` to the terminal `fd`, restores these line settings,
// and lets the signal do what it does by default. One at a time in a process.
void rescue_terminal(int fd, const std::string& bytes, const termios& settings);
// Lets these signals alone again.
void end_rescue();

}  // namespace poe::terminal
