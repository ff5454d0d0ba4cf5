// The user's terminal while the tasks have terminals (-pty). Typed characters reach the tasks one
// by one, and the tasks receive keys such as Ctrl-C.
#pragma once

#include <optional>
#include <termios.h>

#include "partition_manager/job/job.hpp"

namespace poe::cli {

// Returns the size of the terminal of standard output or, if that is no terminal, of standard
// input. Nothing if neither is one.
std::optional<pm::TerminalSpec> terminal_size();

class RawTerminal {
  public:
    // Changes the terminal at once, if standard input is a terminal and this process is in its
    // foreground.
    RawTerminal();
    // Restores the terminal.
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

    // leave() restores the terminal before this process is stopped; come_back() changes it again.
    void leave();
    void come_back();

  private:
    std::optional<termios> before_;  // the original settings, while the terminal is changed
};

}  // namespace poe::cli
