// Copies between processes; see process_copy.hpp.
#include "base/process_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/uio.h>

#include "base/copy_block.hpp"
#include "base/copy_buffer.hpp"

namespace poe {
namespace {

bool copy_directly(CopyDirection direction, pid_t process, std::byte* own, std::uint64_t other,
                   Bytes n) noexcept {
    const auto copy = direction == CopyDirection::kRead ? ::process_vm_readv : ::process_vm_writev;
    for (Bytes done = 0; done < n;) {
        const iovec here{own + done, n - done};
        // An address of the other process. NOLINTNEXTLINE(performance-no-int-to-ptr)
        const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(other + done)),
                          n - done};
        const ssize_t copied = copy(process, &here, 1, &there, 1, 0);
        if (copied == 0) errno = EFAULT;
        if (copied <= 0) return false;
        done += static_cast<Bytes>(copied);
    }
    return true;
}

// The second copy takes a tenth of the kernel's.
bool copy_by_buffer(CopyDirection direction, pid_t process, std::byte* own, std::uint64_t other,
                    Bytes n) noexcept {
    CopyBuffer buffer(other);
    for (Bytes done = 0; done < n; done += CopyBuffer::kBytes) {
        const Bytes piece = std::min(CopyBuffer::kBytes, n - done);
        if (direction == CopyDirection::kWrite) copy_block(buffer.start(), own + done, piece);
        if (!copy_directly(direction, process, buffer.start(), other + done, piece)) return false;
        if (direction == CopyDirection::kRead) copy_block(own + done, buffer.start(), piece);
    }
    return true;
}

}  // namespace

bool copy_process_memory(CopyDirection direction, pid_t process, std::byte* own,
                         std::uint64_t other, Bytes n) noexcept {
    // The kernel copies with `rep movsb`, too (copy_block.hpp).
    constexpr Bytes kLeast = 2048;
    const auto place = reinterpret_cast<std::uintptr_t>(own);
    const bool delayed = direction == CopyDirection::kRead ? delays_rep_movsb(place, other)
                                                           : delays_rep_movsb(other, place);
    return n >= kLeast && delayed ? copy_by_buffer(direction, process, own, other, n)
                                  : copy_directly(direction, process, own, other, n);
}

}  // namespace poe
