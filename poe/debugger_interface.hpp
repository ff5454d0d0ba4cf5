// The process table that parallel debuggers read from the memory of poe, in the form that the MPIR
// Process Acquisition Interface defines.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::cli {

// True if a debugger has started poe and wants to attach to the tasks before they do anything. A
// task that finds MP_DEBUG_GATE in its environment then waits in the initialization of MPL or MPI
// until the debugger has set its variable MPIR_debug_gate.
bool debugger_holds_tasks() noexcept;

// The variable in which pdbx gives poe the descriptor of their connection. The tasks are then held
// before their first instruction.
inline constexpr const char* kDebuggerVariable = "MP_DEBUGGER_FD";
// Returns that descriptor and removes the variable. -1: pdbx has not started this poe.
int take_debugger_connection();

// Replaces this poe by pdbx, which starts poe again with the same arguments, lets the job run, and
// debugs it when a task fails. Returns if pdbx itself has started this poe. Throws Error if
// there is no pdbx.
void run_under_pdbx(const std::vector<std::string>& arguments);

// Publishes the process of each task, in task order, and calls MPIR_Breakpoint, where debuggers
// stop.
void tell_debuggers(const pm::JobSpec& job, const std::vector<pm::TaskProcess>& processes);

}  // namespace poe::cli
