// Access to the memory of other processes; see single_copy.hpp.
#include "mpi/window/single_copy.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <string>
#include <sys/uio.h>

#include "base/process_copy.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {
namespace {

constexpr std::uint64_t kProbe = 0x57696e646f775021u;
// Elements of up to this length are changed in a buffer that is not allocated.
constexpr std::size_t kShortBytes = 256;
constexpr std::size_t kMostPieces = 64;

const std::uint64_t the_probe = kProbe;

Fault copy_fault(pid_t process) {
    if (errno == ESRCH)
        return {MPI_ERR_PROC_ABORTED, "",
                "the target has ended (process " + std::to_string(process) + ")",
                "find out why that task has ended"};
    return {MPI_ERR_RMA_RANGE, "",
            std::string("the memory of the target's window cannot be accessed: ") +
                std::strerror(errno),
            "keep the memory allocated until MPI_Win_free"};
}

// Moves all bytes of the layout between the other process and `packed`, in packed form.
template <typename Move>
Fault move_all(pid_t process, std::byte* memory, const TypedLayout& layout, std::byte* packed,
               Move&& move) {
    std::array<iovec, kMostPieces> pieces;
    for (Bytes at = 0; at < layout.size();) {
        Bytes bytes = 0;
        const std::size_t count = layout.pieces(memory, at, pieces, bytes);
        iovec own{packed + at, bytes};
        // The system moves at most 2 GB at once, and stops between two pieces only if one is not
        // there.
        const ssize_t moved = move(process, &own, 1, pieces.data(), count, 0);
        if (moved <= 0) return copy_fault(process);
        at += static_cast<Bytes>(moved);
    }
    return {};
}

Fault read_all(pid_t process, std::byte* memory, const TypedLayout& layout, std::byte* packed) {
    return move_all(process, memory, layout, packed, ::process_vm_readv);
}
Fault write_all(pid_t process, std::byte* memory, const TypedLayout& layout,
                const std::byte* packed) {
    return move_all(process, memory, layout, const_cast<std::byte*>(packed), ::process_vm_writev);
}

}  // namespace

std::uint64_t probe_address() noexcept {
    return reinterpret_cast<std::uintptr_t>(&the_probe);
}

bool can_copy_from(pid_t process, std::uint64_t address) noexcept {
    std::uint64_t word = 0;
    iovec own{&word, sizeof word};
    iovec other{reinterpret_cast<void*>(address),
                sizeof word};  // NOLINT(performance-no-int-to-ptr)
    return ::process_vm_readv(process, &own, 1, &other, 1, 0) == sizeof word && word == kProbe;
}

Fault carry_out_by_copy(pid_t process, const Access& access, std::byte* memory,
                        const TypedLayout& layout, const std::byte* data, std::byte* fetched) {
    if (layout.size() == 0) return {};
    if (access.kind == AccessKind::kPut) return write_all(process, memory, layout, data);
    if (access.kind == AccessKind::kGet || access.kind == AccessKind::kFetch)
        return read_all(process, memory, layout, fetched);
    std::array<std::byte, kShortBytes> short_copy;
    std::unique_ptr<std::byte[]> long_copy;
    if (layout.size() > kShortBytes)
        long_copy = std::make_unique_for_overwrite<std::byte[]>(layout.size());
    std::byte* const copy = long_copy != nullptr ? long_copy.get() : short_copy.data();
    if (Fault fault = read_all(process, memory, layout, copy)) return fault;
    // The copy is in packed form, whatever the datatype is.
    const Datatype& bytes = *find_predefined_datatype(value_of(MPI_BYTE));
    carry_out(access, copy, bytes.layout(static_cast<std::int64_t>(layout.size())), data, fetched);
    return write_all(process, memory, layout, copy);
}

Fault copy_bytes(pid_t process, bool gets, std::byte* memory, std::byte* own, Bytes bytes) {
    const auto direction = gets ? CopyDirection::kRead : CopyDirection::kWrite;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return copy_process_memory(direction, process, own, address, bytes) ? Fault{}
                                                                        : copy_fault(process);
}

Fault CopiedPuts::add(std::byte* memory, const std::byte* data, Bytes bytes) {
    Fault fault;
    if (count_ == kMost) fault = carry_out();
    from_[count_] = {const_cast<std::byte*>(data), bytes};
    to_[count_++] = {memory, bytes};
    bytes_ += bytes;
    return fault;
}

Fault CopiedPuts::carry_out() {
    if (count_ == 0) return {};
    const ssize_t moved =
        ::process_vm_writev(process_, from_.data(), count_, to_.data(), count_, 0);
    const bool all = moved == static_cast<ssize_t>(bytes_);
    // Stops before memory that is not there.
    if (!all && moved >= 0) errno = EFAULT;
    count_ = 0;
    bytes_ = 0;
    return all ? Fault{} : copy_fault(process_);
}

}  // namespace poe::mpi
