// The report of objects that were never freed, for MPI_Finalize in check mode.
#pragma once

#include <string>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"

namespace poe::mpi::check {

// Collects what the ledgers of all members of `comm` still contain. Returns the report at rank 0: a
// line for each kind of object and place; empty at the other members, and if all was freed. All
// members call it. Blocks.
std::string report_leaks(comm::Runtime& runtime, const Comm& comm);

}  // namespace poe::mpi::check
