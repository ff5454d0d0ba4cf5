// Intercommunicators: how two groups are connected, and how they become one (MPI 5.0, section
// 7.6.2).
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"
#include "mpi/communicator/remote_leader.hpp"

namespace poe::mpi {

// MPI_Intercomm_create. All members of `local`, which is an intracommunicator, and of the group of
// the remote leader make this call. Blocks until both leaders have called it and the members of
// this group have their result. Refused if the groups overlap.
MadeComm connect(comm::Runtime& runtime, Comm& local, int local_leader, const RemoteLeader& remote);

// MPI_Intercomm_merge. All members of both groups make this call. Refused at all members if those
// of one group disagree on `high`.
MadeComm merge(comm::Runtime& runtime, Comm& inter, bool high);

}  // namespace poe::mpi
