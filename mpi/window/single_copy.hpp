// Single copy: an origin reads and writes the memory of another task of its node by the system
// (process_vm_readv), while that task computes. For windows whose memory the program has allocated.
//
// The window has a SharedMemory with control blocks only. An operation for which is_atomic() is
// true reads the elements, changes the copy and writes it back, while it holds the accumulate lock
// of the part; so does the target for its own operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

#include "mpi/datatype/typed_layout.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/access.hpp"

namespace poe::mpi {

// A word that other tasks read in order to find out whether the system lets them.
std::uint64_t probe_address() noexcept;
// True if this task can read the word of that process, whose address there is `address`.
bool can_copy_from(pid_t process, std::uint64_t address) noexcept;

// Executes the operation on the memory of another process: `memory` is an address there. The other
// arguments are those of carry_out(). The caller holds the accumulate lock if the operation is
// atomic. A fault if the process has ended or its memory is not there any more.
Fault carry_out_by_copy(pid_t process, const Access& access, std::byte* memory,
                        const TypedLayout& layout, const std::byte* data, std::byte* fetched);

// The same for a put or a get of contiguous bytes: moves them from `own` to `memory`, or the other
// way if `gets`.
Fault copy_bytes(pid_t process, bool gets, std::byte* memory, std::byte* own, Bytes bytes);

// Puts of contiguous data that are carried out together. The data must stay until then.
class CopiedPuts {
  public:
    explicit CopiedPuts(pid_t process) noexcept : process_(process) {}
    // Adds a put; carries out the earlier ones if there are too many.
    Fault add(std::byte* memory, const std::byte* data, Bytes bytes);
    Fault carry_out();

  private:
    static constexpr std::size_t kMost = 64;
    const pid_t process_;
    std::array<iovec, kMost> from_;
    std::array<iovec, kMost> to_;
    std::size_t count_ = 0;
    Bytes bytes_ = 0;
};

}  // namespace poe::mpi
