// Neighbourhood collective calls (MPI 5.0, section 8.6): each task exchanges blocks with its
// neighbours in the virtual topology. All are one round of messages.
#pragma once

#include <vector>

#include "mpi/collective/blocks.hpp"
#include "mpi/collective/sequence.hpp"

namespace poe::mpi::collective {

// The neighbours of a task in the order of its blocks; MPI_PROC_NULL stands for none.
struct Neighbors {
    std::vector<int> sources;
    std::vector<int> destinations;
    // A Cartesian topology: the messages to the lower and the upper neighbour of a dimension come from
    // the upper and the lower one of the receiver, which matters if both are the same task.
    bool in_pairs = false;
};

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
