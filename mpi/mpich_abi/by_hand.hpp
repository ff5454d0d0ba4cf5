// The functions of MPICH's binary interface that are written by hand, because a conversion of each argument
// by itself is not enough. They have the arguments of MPICH's functions and return codes of its interface.
#pragma once

#include <mpi.h>

#include "mpi/mpich_abi/mpich_types.hpp"

namespace poe::mpi::mpich {

#include "mpi/mpich_abi/by_hand.inc"

// What MPICH's libraries for C++ and Fortran say about objects that they have just created: the function of
// the program is called by `proxy`, which passes arguments as its language does.
void set_operation_proxy(int op, Function* proxy) noexcept;
void set_errhandler_proxy(int errhandler, Function* proxy) noexcept;
void set_keyval_proxies(int keyval, Function* copy_proxy, Function* delete_proxy) noexcept;
// The functions of the generalized request that this thread has started last are subroutines of Fortran.
void set_grequest_of_fortran(int request) noexcept;

// An attribute for Fortran: the value itself, where C gets the address of a predefined value.
int get_value(int comm, int keyval, void* attribute_val, int* flag, bool as_value);

// Invokes the error handler of the communicator, for functions that exist in MPICH only.
int refuse(int comm);

}  // namespace poe::mpi::mpich
