// The predefined reduction operations on predefined datatypes (MPI 5.0, section 6.9). Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/predefined.hpp"

namespace poe::mpi {

// Computes out[i] = one[i] op two[i] for all elements in `bytes` bytes of memory. `out` may be
// `one` or `two`; apart from that the arrays must not overlap. They need not be aligned. A kernel
// has three operands and a length in bytes, because an operand that had to be copied first, or a
// division, would be a large part of a short reduction.
using ReductionKernel = void (*)(const void* one, const void* two, void* out, std::size_t bytes);

// The kernel of the operation whose handle has this value, for this datatype; null if the operation
// is not defined on the datatype. MPI_REPLACE and MPI_NO_OP exist for windows only and have no
// kernel.
//
// More than the standard demands is defined: MPI_CHAR counts as an integer, and the logical
// operations also take the integers of Fortran, MPI_AINT, MPI_OFFSET, MPI_COUNT and floating-point
// numbers, of which 0 means false.
ReductionKernel find_kernel(std::uintptr_t operation, const PredefinedType& type) noexcept;

// The kernels by family; the parts of find_kernel().
ReductionKernel find_arithmetic_kernel(std::uintptr_t operation,
                                       const PredefinedType& type) noexcept;
ReductionKernel find_logical_kernel(std::uintptr_t operation, const PredefinedType& type) noexcept;
ReductionKernel find_location_kernel(std::uintptr_t operation, const PredefinedType& type) noexcept;

}  // namespace poe::mpi
