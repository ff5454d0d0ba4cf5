// Whether the processor stops a program when it writes to a watched address. Some virtual machines
// accept such a watchpoint and never stop.
#pragma once

namespace poe {

// Returns false only if a watchpoint in a process of our own was accepted and did not stop it. On
// other processors than x86-64, and where processes may not be traced, returns true, because gdb
// finds out itself. Starts a process and waits for its end, which takes less than a millisecond.
bool hardware_watchpoints_work() noexcept;

}  // namespace poe
