// The functions of a foreign binary interface that are written by hand, because converting each
// argument separately is not enough. Their arguments and return codes are those of that
// interface.
#pragma once

#include <mpi.h>

#include "interface/types.hpp"

namespace poe::mpi::foreign {

#include "interface/by_hand.inc"

// What foreign libraries for C++ and Fortran say about objects that they have just created: the
// function of the program is called by `proxy`, which passes arguments as its language does. It has
// the type that interface/functions.hpp says.
void set_operation_proxy(Theirs<MPI_Op> op, Function* proxy) noexcept;
void set_errhandler_proxy(Theirs<MPI_Errhandler> errhandler, Function* proxy) noexcept;
void set_keyval_proxies(int keyval, Function* copy_proxy, Function* delete_proxy) noexcept;
// The functions of the generalized request that this thread has started last are subroutines of
// Fortran.
void set_grequest_of_fortran(Theirs<MPI_Request> request) noexcept;
// The operation was created with its proxy as its function; this is the function.
void set_operation_behind(Theirs<MPI_Op> op, Function* function) noexcept;

// Invokes the error handler of the communicator, for functions that exist in MPICH only.
int refuse(Theirs<MPI_Comm> comm);

}  // namespace poe::mpi::foreign
