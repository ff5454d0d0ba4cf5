// What check mode says about each collective call (mpi/check/description.hpp): the arguments that
// must agree, and the signatures of the data that each member sends and receives. The functions of
// collective.hpp call these first if the sequence has a description. The arguments may be wrong.
#pragma once

#include "mpi/check/description.hpp"
#include "mpi/collective/blocks.hpp"
#include "mpi/collective/collective.hpp"
#include "mpi/communicator/comm.hpp"

namespace poe::mpi::collective {

void describe_bcast(Sequence& sequence, const Buffer& buffer, int root);
void describe_gather(Sequence& sequence, const Buffer& send, const Buffer& receive, int root);
void describe_gatherv(Sequence& sequence, const Buffer& send, const Blocks& receive, int root);
void describe_scatter(Sequence& sequence, const Buffer& send, const Buffer& receive, int root);
void describe_scatterv(Sequence& sequence, const Blocks& send, const Buffer& receive, int root);
void describe_allgather(Sequence& sequence, const Buffer& send, const Buffer& receive);
void describe_allgatherv(Sequence& sequence, const Buffer& send, const Blocks& receive);
void describe_alltoall(Sequence& sequence, const Buffer& send, const Buffer& receive);
void describe_alltoallv(Sequence& sequence, const Blocks& send, const Blocks& receive);
// `root`: MPI_UNDEFINED if the reduction has none.
void describe_reduction(Sequence& sequence, const Operands& operands, int root = MPI_UNDEFINED);
void describe_reduce_scatter_block(Sequence& sequence, const Operands& operands);
void describe_reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts);

// Neighbourhood calls. The blocks of a call with equal blocks are Buffers, those of others Blocks.
void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Buffer& receive);
void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Blocks& receive);
void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Blocks& send,
                        const Blocks& receive);

}  // namespace poe::mpi::collective
