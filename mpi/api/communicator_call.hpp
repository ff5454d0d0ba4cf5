// What the bodies that make communicators share.
#pragma once

#include <mpi.h>
#include <string>

#include "mpi/api/call.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

// Gives the program a communicator that was made: its handle, MPI_COMM_NULL, or an error.
inline int store_comm(Call& call, const MadeComm& made, MPI_Comm* newcomm) {
    *newcomm = made.comm != nullptr ? handle_of(*made.comm) : MPI_COMM_NULL;
    return call.finish(made.fault);
}

// For calls that connect one group with another by its root: the group, or null after an error was
// reported.
inline Comm* group_with_root(Call& call, MPI_Comm handle, int root) {
    Comm& local = *find_comm(handle);
    if (local.is_inter()) {
        call.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator",
                  "give a communicator of one group");
    } else if (root < 0 || root >= local.size()) {
        call.fail(MPI_ERR_ROOT, "root",
                  std::to_string(root) + " is no rank of comm, which has " +
                      std::to_string(local.size()) + " members");
    } else {
        return &local;
    }
    return nullptr;
}

// The communicator that the program wants to free; null after an error was reported.
Comm* find_freeable(Call& call, MPI_Comm handle);

// Deletes the attributes of a communicator and drops the program's reference to it.
int release_comm(Call& call, Comm& comm);

}  // namespace poe::mpi
