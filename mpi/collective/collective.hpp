// The collective calls of MPI (MPI 5.0, chapters 6 and 8). Each function composes one call from
// steps of a Sequence, on intracommunicators and intercommunicators, and leaves a fault in the
// sequence if an argument is wrong. All members call the same function.
//
// If the sequence is immediate, the function blocks until this member's part is complete. The
// buffers belong to the program and must stay until the call has ended.
#pragma once

#include <mpi.h>

#include "mpi/collective/blocks.hpp"
#include "mpi/collective/sequence.hpp"

namespace poe::mpi::collective {

// Section 6.3.
void barrier(Sequence& sequence);

// One member, the root, has or gets the data of all (sections 6.4 to 6.6). On an intercommunicator,
// `root` is MPI_ROOT, MPI_PROC_NULL or the rank of the root in the other group.
void bcast(Sequence& sequence, const Buffer& buffer, int root);
void gather(Sequence& sequence, const Buffer& send, const Buffer& receive, int root);
void gatherv(Sequence& sequence, const Buffer& send, const Blocks& receive, int root);
void scatter(Sequence& sequence, const Buffer& send, const Buffer& receive, int root);
void scatterv(Sequence& sequence, const Blocks& send, const Buffer& receive, int root);

// All members have and get data (sections 6.7 and 6.8).
void allgather(Sequence& sequence, const Buffer& send, const Buffer& receive);
void allgatherv(Sequence& sequence, const Buffer& send, const Blocks& receive);
void alltoall(Sequence& sequence, const Buffer& send, const Buffer& receive);
// Alltoallv and alltoallw.
void alltoallv(Sequence& sequence, const Blocks& send, const Blocks& receive);

// The operands of a reduction.
struct Operands {
    const void* send = nullptr;
    void* receive = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
};
// Sections 6.9 to 6.11.
void reduce(Sequence& sequence, const Operands& operands, int root);
void allreduce(Sequence& sequence, const Operands& operands);
void scan(Sequence& sequence, const Operands& operands);
void exscan(Sequence& sequence, const Operands& operands);
// operands.count is the number of elements that each member gets.
void reduce_scatter_block(Sequence& sequence, const Operands& operands);
// counts[r] is the number of elements that member r gets.
void reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts);

// The same between the two groups of an intercommunicator; the functions above call these.
namespace inter {
void barrier(Sequence& sequence);
void bcast(Sequence& sequence, const Buffer& buffer, int root);
void reduce(Sequence& sequence, const Operands& operands, int root);
void allreduce(Sequence& sequence, const Operands& operands);
void reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts, bool equal);
}  // namespace inter

// True if `root` is valid; otherwise the sequence has a fault.
bool check_root(Sequence& sequence, int root);

}  // namespace poe::mpi::collective
