// The address of MPI_DUP_FN in MPICH's interface, a function of the library.
#pragma once

#include "mpi/mpich_abi/mpich_types.hpp"

namespace poe::mpi::mpich {

Function* duplicate_any() noexcept;

}  // namespace poe::mpi::mpich
