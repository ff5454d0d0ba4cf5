// The terminal of a task with -pty: a pseudo-terminal. The daemon reads and writes its other end
// like the pipes of other tasks.
#pragma once

#include "base/unique_fd.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

struct TaskTerminal {
    UniqueFd master;  // the daemon's end
    UniqueFd slave;   // the task's standard streams
};

// Creates a terminal of the size given by `spec`. `for_person`: poe's output is a terminal. If it
// is not, lines end with a line feed alone, as in a file. Throws Error.
TaskTerminal make_task_terminal(const TerminalSpec& spec, bool for_person);

// Sets the size of the terminal. The kernel informs the processes on it (SIGWINCH).
void resize_terminal(int master, std::uint16_t rows, std::uint16_t columns) noexcept;

}  // namespace poe::pm
