// The types of MPICH's binary interface (soname libmpi.so.12, in Debian libmpich.so.12), under
// names of our own, because mpi.h gives the names of MPI to the types of the standard's interface.
//
//   type of MPI      in MPICH's interface
//   handles          an int; a file is a pointer
//   MPI_Status       20 bytes, see Status
//   MPI_Aint, MPI_Count, MPI_Offset    64 bits, as in the standard's interface
#pragma once

#include <cstdint>
#include <mpi.h>

namespace poe::mpi::foreign {

// A function of the program, of whatever type.
using Function = void();

// The program's type of a handle, by our type of it.
template <typename Handle>
struct TheirType {
    using Type = int;
};
template <>
struct TheirType<MPI_File> {
    using Type = void*;
};
template <typename Handle>
using Theirs = typename TheirType<Handle>::Type;

struct Status {
    int count_low;   // the received bytes: bits 31..0
    int count_high;  // bit 0: it was cancelled; the others: bits 62..32 of the received bytes
    int source;
    int tag;
    int error;
};
static_assert(sizeof(Status) == 20);

}  // namespace poe::mpi::foreign
