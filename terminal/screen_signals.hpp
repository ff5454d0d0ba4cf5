// ScreenSignals: the signals of a program that has taken over a terminal: a changed size, a stop
// and its end (Ctrl-Z, fg), and signals that end the program. They are read from a descriptor
// instead of handled, so that the program itself can restore the terminal.
#pragma once

#include "base/unique_fd.hpp"
#include "terminal/screen.hpp"

namespace poe::terminal {

// One object at a time per process; for one thread. Construct it before the Screen.
class ScreenSignals {
  public:
    // Blocks these signals, so that they have no effect by themselves. Throws Error.
    ScreenSignals();

    // Blocks until a key or a signal arrives, at most `timeout` ms (-1: no limit). False: the
    // terminal has gone.
    bool wait(int timeout) const;

    // Handles the signals that have arrived, including a stop, which blocks. Sets `changed` if the
    // screen must be drawn again. Returns the signal that ends the program, or 0.
    int take(Screen& screen, bool& changed) const;

  private:
    UniqueFd fd_;
};

}  // namespace poe::terminal
