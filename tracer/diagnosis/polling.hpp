// Polling: a task that polls for a message, or for the end of a collective operation, depends on
// what it polls for. That is no wait state, but a link of the chains that lead to root causes.
// Pure.
#pragma once

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// Adds a wait with `polls` set for each stretch of polls that the awaited event has ended: from the
// first poll until a message was sent, or until the last member that was needed entered. The calls
// of messages and members must be known.
void add_polling(History& history);

}  // namespace poe::trace
