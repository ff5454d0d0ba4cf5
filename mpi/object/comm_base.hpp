// CommBase: what every communicator has apart from its messages: a name, an error handler,
// attributes.
#pragma once

#include <string>

#include "mpi/object/attributes.hpp"
#include "mpi/object/error_handler.hpp"

namespace poe::mpi {

struct CommBase : ErrorHandlerOwner {
    std::string name;  // at most MPI_MAX_OBJECT_NAME - 1 characters
    Attributes attributes;
};

}  // namespace poe::mpi
