// poe's own messages on standard error: "SEVERITY: 0031-NNN  text", selected by -infolevel.
#pragma once

#include <string>

#include "base/result.hpp"

namespace poe::cli {

// Numbers of poe's own messages (the historical ones if they are known).
enum MessageNumber : int {
    kUserMistake = 215,
    kTooFewNodes = 125,
    kTaskKilled = 250,
    kTaskExited = 251,
    kTaskStopped = 252,
    kNotLoaded = 253,
    kInterrupted = 254,
    kMaxtimeOver = 255,
    kDaemonLost = 256,
    kOutputLost = 257,
    kDeadlock = 258,
    kAttention = 378,
    kAllocated = 408,
    kExecuting = 724,
    kFatal = 900,
};

// Writes whole lines, so that messages do not mix with other output. Blocks if standard error
// blocks. Errors are always shown, attentions from infolevel 1 on, informations from 2 on.
class Diagnostics {
  public:
    explicit Diagnostics(int infolevel) : infolevel_(infolevel) {}

    void error(int number, const std::string& text) const;
    void error(const UserError& mistake) const;
    void attention(int number, const std::string& text) const;
    void info(int number, const std::string& text) const;
    // Prints text that belongs to the previous message.
    void detail(const std::string& text) const;

  private:
    int infolevel_;
};

}  // namespace poe::cli
