// Neighbourhood collective calls (MPI 5.0, section 8.6): each task exchanges blocks with its
// neighbours in the virtual topology. All are one round of messages.
#pragma once

#include "mpi/collective/blocks.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/comm.hpp"

namespace poe::mpi::collective {

void neighbor_allgather(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Buffer& receive);
void neighbor_allgatherv(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                         const Blocks& receive);
void neighbor_alltoall(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                       const Buffer& receive);
// Neighbor_alltoallv and neighbor_alltoallw.
void neighbor_alltoallv(Sequence& sequence, const Neighbors& neighbors, const Blocks& send,
                        const Blocks& receive);

}  // namespace poe::mpi::collective
