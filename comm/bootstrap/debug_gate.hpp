// The gate at which a task waits for a parallel debugger (MPIR Process Acquisition Interface, version
// 1.0). poe/debugger_interface.hpp has the other side.
#pragma once

namespace poe::comm {

// If poe was started by a debugger that wants to attach to the tasks first, blocks until the debugger
// has set MPIR_debug_gate in this process.
void wait_for_debugger() noexcept;

}  // namespace poe::comm
