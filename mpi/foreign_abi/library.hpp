// The functions of our MPI library, libmpi_abi.so.1, as a table of pointers.
//
// This library exports functions of the same names, with other types of handles. If it were linked
// to libmpi_abi.so.1, its calls of PMPI_Send would reach its own PMPI_Send, because a name belongs
// to the first library of the process that has it. Therefore it loads that library for itself
// (RTLD_LOCAL) and looks its functions up. libmpi_abi.so.1 calls none of its own exported functions
// by name.
#pragma once

#include <mpi.h>

namespace poe::mpi::foreign {

struct Library {
#define CALL(name) decltype(&::PMPI_##name) name;
#include "interface/calls.inc"
#undef CALL
};

// Filled when this library is loaded, before any function of the program runs. If libmpi_abi.so.1
// cannot be loaded, the process ends with a message.
extern Library library;

}  // namespace poe::mpi::foreign
