// Completes a History whose arrays have been filled: what connects them, and what follows from all
// of them together. Separate from history.hpp, which only holds the data. Pure.
#pragma once

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// Sets begin and end, finds the calls of messages and members, adds the waits of tasks that poll,
// sorts the waits, removes overlaps, finds their calls, and decides which late senders are messages
// in the wrong order. Call it once, when the arrays are complete.
void complete(History& history);

}  // namespace poe::trace
