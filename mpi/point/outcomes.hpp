// Why a message failed, in the words of MPI.
#pragma once

#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// The rank of a task in the group that ranks of point-to-point calls name; the task itself is named
// if it has no rank there.
int rank_of_peer(const Comm& comm, TaskId task) noexcept;

// Returns why a message failed that ended with `outcome`, which is neither kPending nor kDone nor
// kCancelled. `peer` is the other task, or comm::kWildcard.
Fault fault_of(comm::Runtime& runtime, const Comm& comm, comm::Outcome outcome, TaskId peer);

// A message of `length` bytes did not fit into `room` bytes.
Fault truncation(const Comm& comm, const comm::ReceiveRequest& receive);

}  // namespace poe::mpi
