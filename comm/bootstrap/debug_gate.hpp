// The gates at which a task waits for a debugger.
#pragma once

namespace poe::comm {

// The gate of the MPIR Process Acquisition Interface, version 1.0; poe/debugger_interface.hpp has
// the other side. If poe was started by a debugger that wants to attach to the tasks first, blocks
// until the debugger has set MPIR_debug_gate in this process.
void wait_for_debugger() noexcept;

// The gate of pdbx, before the main program. If pdbx debugs this job, and this process is not the
// one that the daemon has started as the task but one that a script has started, blocks until pdbx
// has attached to it or does not want it. The daemon's end is ControlSocket.
void wait_for_pdbx() noexcept;

}  // namespace poe::comm
