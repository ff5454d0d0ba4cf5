// How a file that is written by hand defines exported functions, between
// `#pragma GCC visibility push(default)` with `extern "C" {` and the end of both.
#pragma once

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "tracer/probe/caller_site.hpp"

// The first statement of each exported function.
#define remember_caller() poe::caller_site = __builtin_return_address(0)

// Defines PMPI_X, and MPI_X as a weak alias of it; EXPORT_X does the same for PMPIX_X. `parameters`
// is in parentheses.
#define EXPORT(result, name, parameters)                     \
    result foreign_##name parameters __asm__("PMPI_" #name); \
    result alias_##name parameters __asm__("MPI_" #name)     \
        __attribute__((weak, alias("PMPI_" #name)));         \
    result foreign_##name parameters
#define EXPORT_X(result, name, parameters)                     \
    result foreignx_##name parameters __asm__("PMPIX_" #name); \
    result aliasx_##name parameters __asm__("MPIX_" #name)     \
        __attribute__((weak, alias("PMPIX_" #name)));          \
    result foreignx_##name parameters
