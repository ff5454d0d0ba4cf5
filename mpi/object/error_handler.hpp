// Error handlers (MPI 5.0, section 9.3): the object that a program makes from its function, and the
// base of the objects that have an error handler.
#pragma once

#include <mpi.h>

#include "mpi/object/handle.hpp"

namespace poe::mpi {

// An error handler that the program has made.
struct ErrorHandler : Object {
    Kind target = Kind::kComm;  // the kind of objects that it is for
    // The program's function, in fact of the type MPI_Comm_errhandler_function or the corresponding
    // type of `target`.
    void (*function)() = nullptr;

    void reset() noexcept { function = nullptr; }
};

// The base of communicators, windows, files and sessions.
struct ErrorHandlerOwner : Object {
    // A predefined handler, or one made by the program, to which this object holds a reference.
    MPI_Errhandler errhandler = MPI_ERRORS_ARE_FATAL;
};

// The predefined error handlers.
inline bool is_predefined_errhandler(MPI_Errhandler handler) noexcept {
    return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
           handler == MPI_ERRORS_RETURN;
}

}  // namespace poe::mpi
