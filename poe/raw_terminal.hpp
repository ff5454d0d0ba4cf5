// The user's terminal while a job has terminals of its own (-pty): what is typed reaches the tasks
// character by character, and signs such as Ctrl-C are theirs.
#pragma once

#include <optional>
#include <termios.h>

#include "partition_manager/job/job.hpp"

namespace poe::cli {

// The size of the terminal that standard output, or else standard input, is; nothing if neither is.
std::optional<pm::TerminalSpec> terminal_size();

class RawTerminal {
  public:
    // Changes the terminal at once, if standard input is one and this process is in its foreground.
    RawTerminal();
    // Restores it.
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

    // For as long as this process is stopped.
    void leave();
    void come_back();

  private:
    std::optional<termios> before_;  // while the terminal is changed
};

}  // namespace poe::cli
