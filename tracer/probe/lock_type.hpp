// The type of a lock of a window. It takes the place of the tag in the record of MPI_Win_lock
// (kEnter in format.hpp), which has no tag. Other calls, and locks that nobody takes
// (MPI_MODE_NOCHECK), have none.
#pragma once

#include <cstdint>

namespace poe::trace {

enum class LockType : std::uint32_t { kExclusive = 1, kShared = 2 };

}  // namespace poe::trace
