// Tuning: what messages cost on a computer, as mptune has measured it, and the file in which it is kept. The
// chooser computes with it (chooser.hpp). Pure data; nothing here does I/O.
//
// A file has one fact a line; '#' begins a comment:
//
//   line                        meaning
//   level node                  the facts that follow are for tasks of one node; "level network": for others
//   start_up 0.9                microseconds of a message, from the send until it is received
//   per_byte 0.00012            microseconds for each byte of the message
//   message 0.2                 microseconds of work for each message; all tasks share the cores for it
//   load 0.00006                microseconds of work for each byte that a task sends or copies
//   lambda 1024 1.7             a message of 1024 bytes takes 1.7 times as long as it occupies its sender
//   best bcast 65536 4 chain:8  what was fastest for 65536 bytes and 4 tasks, where the facts above lead to
//                               another choice: an algorithm, shared-memory, or direct-memory
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// A file's text; what it does not say is built in. `source` names the file in errors.
Result<Tuning> read_tuning(std::string_view text, const std::string& source, unsigned cores);
// The text that reads as this; `head` becomes comments at its beginning.
std::string tuning_text(const Tuning& tuning, std::string_view head);

}  // namespace poe::collectives
