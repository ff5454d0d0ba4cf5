// The start of the library, which the world model and sessions share (MPI 5.0, sections 11.2 and
// 11.3).
#pragma once

#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Makes the runtime of this process ready for MPI at the first call; later ones do nothing but
// allow several threads if `thread_level` is MPI_THREAD_MULTIPLE. Only a program that asks for it
// pays for locks. Blocks until the other tasks of the job have joined, if the launcher needs that.
// Thread-safe. MPI_ERR_OTHER: there are no messages in this process.
Fault start_library(int thread_level);

}  // namespace poe::mpi
