// Reads the memory of another process, which may contain anything: the caller must check every
// address and number in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

namespace poe::pm {

// Reads `count` objects; never blocks. Returns false with errno if they cannot all be read.
template <typename Object>
bool read_memory(pid_t process, std::uint64_t address, Object* into, std::size_t count) {
    const iovec local{into, count * sizeof(Object)};
    const iovec remote{reinterpret_cast<void*>(address), count * sizeof(Object)};
    return ::process_vm_readv(process, &local, 1, &remote, 1, 0) ==
           static_cast<ssize_t>(local.iov_len);
}

}  // namespace poe::pm
