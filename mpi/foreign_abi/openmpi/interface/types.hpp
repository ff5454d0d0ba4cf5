// The types of the binary interface of Open MPI 4 (soname libmpi.so.40), under names of our own,
// because mpi.h gives the names of MPI to the types of the standard's interface.
//
//   type of MPI      in Open MPI's interface
//   handles          pointers to objects
//   MPI_Status       24 bytes, see Status
//   MPI_Aint, MPI_Count, MPI_Offset    64 bits, as in the standard's interface
#pragma once

#include <cstddef>
#include <mpi.h>

namespace poe::mpi::foreign {

// A function of the program, of whatever type.
using Function = void();

// The program's type of a handle, by our type of it.
template <typename Handle>
struct TheirType {
    using Type = void*;
};
template <typename Handle>
using Theirs = typename TheirType<Handle>::Type;

struct Status {
    int source;
    int tag;
    int error;
    int cancelled;
    std::size_t bytes;  // received
};
static_assert(sizeof(Status) == 24);

}  // namespace poe::mpi::foreign
