// The neighbours of this task, for the bodies of the neighbourhood collective calls.
#pragma once

#include "mpi/collective/neighbor.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Stores the neighbours of this task in the virtual topology of the communicator. Refused: a
// communicator without topology.
inline Fault find_neighbors(const Comm& comm, Neighbors& neighbors) {
    if (comm.topology == nullptr) {
        return {MPI_ERR_TOPOLOGY, "comm", "the communicator has no virtual topology",
                "make one with MPI_Cart_create or MPI_Dist_graph_create"};
    }
    neighbors = comm.topology->neighbors(comm.rank);
    return {};
}

}  // namespace poe::mpi
