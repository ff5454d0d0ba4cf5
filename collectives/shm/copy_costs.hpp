// CopyCosts: what copies between the memories of two tasks cost on this machine: by single copy
// (process_vm_readv), and through shared memory, where each byte is copied twice. Machines differ
// by a factor of five, so the choice between the two is measured, not built in.
#pragma once

#include "base/types.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

inline constexpr Bytes kNeverShorter = ~Bytes{0};

struct CopyCosts {
    double single_start = 0;     // ns for a single copy of any length,
    double single_per_byte = 0;  // and for each byte
    double shared_per_byte = 0;  // ns for each byte of a copy within the caches
};

// Measures the costs on memory of the calling process; takes less than a millisecond. If single
// copy is not permitted, its cost per byte is infinite.
CopyCosts measure_copy_costs() noexcept;

// Returns the bytes that a call of this shape copies in shared memory, divided by the bytes that it
// would copy by single copy; 0: not known. Depends on the shape only.
double shared_copies_of(const Shape& shape) noexcept;

// Returns the length in bytes (Shape::bytes) from which on such calls are faster by single copy;
// kNeverShorter: none.
Bytes shortest_single_copy(const CopyCosts& costs, const Shape& shape) noexcept;

}  // namespace poe::collectives
