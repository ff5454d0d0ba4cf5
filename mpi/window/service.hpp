// The service of windows: the operations of other tasks make progress during every wait of this
// task, and by the progress thread while it computes.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// Serves the window until end_serving(). Never blocks.
void begin_serving(comm::Runtime& runtime, Window& window);
void end_serving(comm::Runtime& runtime, Window& window);
// Carries out the operations that others have put into mailboxes of this task (mailbox.hpp).
// Returns true if there were any. Never blocks for a message.
bool empty_own_mailboxes() noexcept;

}  // namespace poe::mpi
