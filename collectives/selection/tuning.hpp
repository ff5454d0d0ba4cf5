// The text of a tuning file, in which mptune stores the costs of messages on a computer
// (cost_model.hpp). Pure; nothing here does I/O.
//
// A file has one fact per line; '#' begins a comment:
//
//   line                        meaning
//   level node                  the following facts are for tasks of one node
//   level network               the following facts are for tasks of different nodes
//   start_up 0.9                microseconds of a message, from the send until it is received
//   per_byte 0.00012            microseconds for each byte of the message
//   message 0.2                 microseconds of work for each message; all tasks share the cores
//   load 0.00006                microseconds of work for each byte that a task sends or copies
//   ports 2                     a task can send, and receive, two messages in the time of one; 1 if
//                               this line is missing. mptune does not measure it
//   multicast 90                microseconds of a transfer by multicast, for its root and for each level of
//                               its report tree, and
//   multicast_per_byte 0.09     for each byte; both only in level network, and only if measured
//   lambda 1024 1.7             the time of a message of 1024 bytes, divided by the time for which
//                               it occupies its sender, is 1.7
//   best bcast 65536 4 chain:8  the fastest for 65536 bytes and 4 tasks, if the facts above lead to
//                               another choice: an algorithm, shared-memory, or direct-memory
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// Reads the text of a file; built-in values replace missing ones. `source` names the file in
// errors.
Result<Tuning> read_tuning(std::string_view text, const std::string& source, unsigned cores);
// Returns the text from which read_tuning reads this tuning. `head` becomes comments at its start.
std::string tuning_text(const Tuning& tuning, std::string_view head);

}  // namespace poe::collectives
