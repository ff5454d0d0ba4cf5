// Tuning: what messages cost on a computer, as mptune has measured it, and the small file that says
// so. What chooses algorithms (chooser.hpp) computes with it. Pure data; nothing here does I/O.
//
// The file, one fact per line, '#' for comments:
//   level node            what follows is of tasks that share a node; "level network": of others
//   start_up 0.9          microseconds of a message, from send to received
//   per_byte 0.00012      and for each of its bytes
//   message 0.2           microseconds of work for each message, shared by the cores of all tasks
//   load 0.00006          and for each byte that any of them sends or copies
//   lambda 1024 1.7       messages of 1024 bytes take 1.7 times as long as they keep their sender
//   busy
//   best bcast 65536 4 chain:8  what was fastest for 65536 bytes and 4 tasks, where the facts above
//   would have had something else; an algorithm, or shared-memory or direct-memory
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
