// "external32": the representation of data that does not depend on the computer (MPI 5.0, section
// 14.5.2): big-endian, IEEE floating-point numbers, long double as binary128, and fixed sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/datatype.hpp"

namespace poe::mpi {

// The number of bytes of `count` elements of `type` in external32. Requires count >= 0.
std::int64_t external32_size(const Datatype& type, std::int64_t count);

// Converts `count` elements at `memory` to external32_size() bytes at `external`, or back. A number
// that has fewer bytes in external32 (long, wchar_t) keeps its low bytes.
void to_external32(const void* memory, std::int64_t count, const Datatype& type,
                   std::byte* external);
void from_external32(const std::byte* external, void* memory, std::int64_t count,
                     const Datatype& type);

}  // namespace poe::mpi
