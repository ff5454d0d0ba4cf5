// What the bodies that make communicators share.
#pragma once

#include <mpi.h>

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

// The communicator that the program wants to free; null after an error was reported.
Comm* find_freeable(Call& call, MPI_Comm handle);

// Deletes the attributes of a communicator and drops the program's reference to it.
int release_comm(Call& call, Comm& comm);

}  // namespace poe::mpi
