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

}  // namespace poe
