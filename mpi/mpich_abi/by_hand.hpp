// The functions of MPICH's binary interface that are written by hand, because converting each
// argument separately is not enough. Their arguments and return codes are those of MPICH's
// interface.
#pragma once

#include <mpi.h>

#include "mpi/mpich_abi/mpich_types.hpp"

namespace poe::mpi::mpich {

#include "mpi/mpich_abi/by_hand.inc"

// What MPICH's libraries for C++ and Fortran say about objects that they have just created: the
// function of the program is called by `proxy`, which passes arguments as its language does.
void set_operation_proxy(int op, Function* proxy) noexcept;
void set_errhandler_proxy(int errhandler, Function* proxy) noexcept;
void set_keyval_proxies(int keyval, Function* copy_proxy, Function* delete_proxy) noexcept;
// The functions of the generalized request that this thread has started last are subroutines of
// Fortran.
void set_grequest_of_fortran(int request) noexcept;

// The number for C of a predefined key that Fortran passes; other numbers stay.
int key_of_c(int keyval) noexcept;
// Turns the result of a function that gets an attribute into the value for Fortran. Returns `code`.
int fortran_value_of(int code, int keyval, void* attribute_val, const int* flag);

// Invokes the error handler of the communicator, for functions that exist in MPICH only.
int refuse(int comm);

}  // namespace poe::mpi::mpich
