// Leaving: how tasks that were connected by sessions end together. MPI_Session_finalize does not
// wait for other tasks, but a task that exits counts as lost to those that are still in a call with
// it, although it has done its part. So at its exit it waits until the tasks that it was connected
// with exit, too. The world model needs none of this, because MPI_Finalize waits.
#pragma once

#include <span>

#include "base/types.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::mpi {

// These tasks have a communicator that was made from groups. Each of them calls this function when
// the communicator is made. The tasks may be listed in any order.
void remember_connected(std::span<const TaskId> tasks);

// At the exit of the process, with the turn, when no session is open: blocks until all tasks that
// this one was connected with have made the same call or have ended. Groups are left in an order
// that is the same at all tasks, so overlapping groups do not wait for each other in a circle.
void leave_connected(comm::Runtime& runtime) noexcept;

}  // namespace poe::mpi
