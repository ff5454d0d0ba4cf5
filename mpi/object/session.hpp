// Session: a handle of the library that a part of a program opens for itself (MPI 5.0, section
// 11.3).
#pragma once

#include <mpi.h>

#include "mpi/object/error_handler.hpp"

namespace poe::mpi {

struct Session : ErrorHandlerOwner {
    // Unique in this process and never 0, because an object is used again for a later session.
    int number = 0;
    int thread_level = MPI_THREAD_SINGLE;

    void reset() noexcept { number = 0; }
};

}  // namespace poe::mpi
