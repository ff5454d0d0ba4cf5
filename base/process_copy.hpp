// Copies between the memory of this process and that of another one, by process_vm_readv and
// process_vm_writev.
#pragma once

#include <cstdint>
#include <sys/types.h>

#include "base/types.hpp"

namespace poe {

enum class CopyDirection : std::uint8_t { kRead, kWrite };

// Copies n bytes between `own` and the address `other` of `process`. Blocks until all bytes are
// copied. Returns false and sets errno if that fails: ESRCH if the process has ended, EPERM or
// another error if the system forbids it, EFAULT if memory of either side is not there. Some bytes
// may have been copied then.
bool copy_process_memory(CopyDirection direction, pid_t process, std::byte* own,
                         std::uint64_t other, Bytes n) noexcept;

// For copies through a buffer, which would end the process where the kernel reports an error.
// Returns false and sets errno to EFAULT if the first or the last of n bytes at `own` cannot be
// read (kWrite) or written (kRead). Returns true if the system does not permit to find out.
// Precondition: n is not 0.
bool is_accessible(CopyDirection direction, std::byte* own, Bytes n) noexcept;

}  // namespace poe
