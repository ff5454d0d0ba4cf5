// The sizes of the dimensions of a Cartesian grid (MPI 5.0, section 8.5.2). Pure.
#pragma once

#include <span>

#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Replaces the zeros of `dims` by factors whose product, with the other entries, is `nodes`. The
// new factors do not increase from left to right, and are as close to each other as possible: the
// difference of the largest and the smallest is minimal, then the smallest is maximal. Refused:
// negative entries, and entries whose product does not divide `nodes`.
Fault create_dims(int nodes, std::span<int> dims);

}  // namespace poe::mpi
