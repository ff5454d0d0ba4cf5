// Fault: why an operation on an MPI object was refused. The room of the objects does not report
// errors itself, because only the API knows the function, the communicator and the error handler.
#pragma once

#include <mpi.h>
#include <string>

namespace poe::mpi {

struct Fault {
    int code =
        MPI_SUCCESS;  // a class or code of the standard, or what a function of the user returned
    const char* argument = "";  // the argument that is wrong; empty if it is none in particular
    std::string what;           // what is wrong, as the middle of a sentence
    std::string remedy;         // what the user can do; may be empty

    explicit operator bool() const noexcept { return code != MPI_SUCCESS; }
};

}  // namespace poe::mpi
