// What the bodies of the functions of topologies share.
#pragma once

#include <mpi.h>
#include <string>

#include "mpi/api/call.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/making.hpp"
#include "mpi/communicator/topology.hpp"

namespace poe::mpi {

// The topology of the communicator, if it is of this class; null after an error was reported.
template <typename T>
const T* find_topology(Call& call, MPI_Comm comm) {
    const auto* found = dynamic_cast<const T*>(find_comm(comm)->topology.get());
    if (found == nullptr)
        call.fail(MPI_ERR_TOPOLOGY, "comm", "the communicator has no such topology",
                  "find out with MPI_Topo_test");
    return found;
}

// True after reporting an error: topologies are for communicators of one group.
inline bool refuse_inter(Call& call, const Comm& comm) {
    if (!comm.is_inter()) return false;
    call.fail(MPI_ERR_COMM, "comm_old", "it is an intercommunicator",
              "give a communicator of one group");
    return true;
}

inline bool check_rank(Call& call, MPI_Comm comm, int rank) {
    const int size = find_comm(comm)->size();
    if (rank >= 0 && rank < size) return true;
    call.fail(MPI_ERR_RANK, "rank",
              std::to_string(rank) + " is no rank of the communicator, which has " +
                  std::to_string(size) + " members");
    return false;
}

}  // namespace poe::mpi
