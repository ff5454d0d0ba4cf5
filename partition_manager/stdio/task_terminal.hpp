// The terminal that a task gets with -pty: a pseudo-terminal, whose other end the daemon reads and
// writes like the pipes of other tasks.
#pragma once

#include "base/unique_fd.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

struct TaskTerminal {
    UniqueFd master;  // the daemon's end
    UniqueFd slave;   // the task's standard streams
};

// Makes one of the size that `spec` says. `for_person`: poe's output is a terminal; otherwise lines
// end in a line feed alone, as in a file. Throws Error.
TaskTerminal make_task_terminal(const TerminalSpec& spec, bool for_person);

// Tells the processes on the terminal that its size has changed.
void resize_terminal(int master, std::uint16_t rows, std::uint16_t columns) noexcept;

}  // namespace poe::pm
