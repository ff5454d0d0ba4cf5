// Copies between processes; see process_copy.hpp.
#include "base/process_copy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>

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

// The second copy takes a tenth of the kernel's. Precondition: n is not 0.
bool copy_by_buffer(CopyDirection direction, pid_t process, std::byte* own, std::uint64_t other,
                    Bytes n) noexcept {
    if (!is_accessible(direction, own, n)) return false;
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

// The kernel copies both bytes: to themselves if they are to be written.
bool is_accessible(CopyDirection direction, std::byte* own, Bytes n) noexcept {
    std::array<std::byte, 2> copies;
    std::array<iovec, 2> ends{iovec{own, 1}, iovec{own + n - 1, 1}};
    iovec to_copies{copies.data(), copies.size()};
    const bool reads = direction == CopyDirection::kRead;
    const ssize_t copied = ::process_vm_readv(::getpid(), reads ? ends.data() : &to_copies,
                                              reads ? 2 : 1, ends.data(), ends.size(), 0);
    // If the first byte is there and the second is not, only one is copied.
    if (copied == 1) errno = EFAULT;
    return copied == 2 || (copied < 0 && errno != EFAULT);
}

bool copy_process_memory(CopyDirection direction, pid_t process, std::byte* own,
                         std::uint64_t other, Bytes n) noexcept {
    // The kernel copies with `rep movsb`, too (copy_block.hpp).
    constexpr Bytes kLeast = 8192;
    const auto place = reinterpret_cast<std::uintptr_t>(own);
    const bool delayed = direction == CopyDirection::kRead ? delays_rep_movsb(place, other)
                                                           : delays_rep_movsb(other, place);
    return n >= kLeast && delayed ? copy_by_buffer(direction, process, own, other, n)
                                  : copy_directly(direction, process, own, other, n);
}

}  // namespace poe
