// ScreenSignals: what comes to a program that has taken over a terminal, beside keys: another size,
// a stop and its end (Ctrl-Z, fg), and signals that end it. Read, not suffered, so that the
// terminal is put back in order by the program itself.
#pragma once

#include "base/unique_fd.hpp"
#include "terminal/screen.hpp"

namespace poe::terminal {

// One at a time in a process; one thread. Made before the Screen.
class ScreenSignals {
  public:
    // From now on these signals do nothing by themselves. Throws Error.
    ScreenSignals();

    // Until a key or a signal comes, at most `timeout` ms (-1: any time). False: the terminal is
    // gone.
    bool wait(int timeout) const;

    // Does what the signals that have come want of the screen, a stop included; `changed` becomes
    // true when it is to be shown again. The signal that ends the program, or 0.
    int take(Screen& screen, bool& changed) const;

  private:
    UniqueFd fd_;
};

}  // namespace poe::terminal
