// The bodies of the functions of MPI: what a function does, for its plain and its large-count form.
// They are written by hand in the api_*.cpp files, one file per chapter; their declarations are
// generated from the column `body` of the table of functions. An entry point has made the checks
// that its row names before it calls the body. A body returns an error code, after reporting the
// error through the Call.
#pragma once

#include <mpi.h>

#include "mpi/api/call.hpp"
#include "mpi/api/counts.hpp"

namespace poe::mpi {

#include "mpi/table/bodies.inc"

}  // namespace poe::mpi
