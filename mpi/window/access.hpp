// Access: one operation of one-sided communication, as its target sees it (MPI 5.0, sections 12.3.1
// to 12.3.4). The same description is executed on memory that is mapped, and sent to another task.
// Pure: no function of this file knows windows or messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "mpi/datatype/typed_layout.hpp"

namespace poe::mpi {

enum class AccessKind : std::uint8_t {
    // Operations on memory.
    kPut,
    kGet,
    kAccumulate,
    kGetAccumulate,   // also MPI_Fetch_and_op
    kFetch,           // the same with MPI_NO_OP
    kCompareAndSwap,  // the data are two elements: the new value, then the value to compare with
    // Synchronisation, without data.
    kLockShared,
    kLockSharedAhead,  // the same, ahead of exclusive requests that wait (LockQueue)
    kLockExclusive,
    kUnlock,
    kFlush,
    kComplete,  // the origin's access epoch of MPI_Win_start has ended
};

constexpr bool takes_data(AccessKind kind) noexcept {
    return kind == AccessKind::kPut || kind == AccessKind::kAccumulate ||
           kind == AccessKind::kGetAccumulate || kind == AccessKind::kCompareAndSwap;
}
constexpr bool gives_data(AccessKind kind) noexcept {
    return kind == AccessKind::kGet || kind == AccessKind::kGetAccumulate ||
           kind == AccessKind::kFetch || kind == AccessKind::kCompareAndSwap;
}
constexpr bool is_atomic(AccessKind kind) noexcept {
    return kind == AccessKind::kAccumulate || kind == AccessKind::kGetAccumulate ||
           kind == AccessKind::kFetch || kind == AccessKind::kCompareAndSwap;
}

// An operation as it travels, at the beginning of its message. The description of the target's
// datatype (target_type.hpp) follows, and then the data if they are short.
struct Access {
    AccessKind kind = AccessKind::kPut;
    // The data follow in this message; otherwise in a message of their own.
    bool data_inside = false;
    std::uint16_t element = 0;    // code of the predefined datatype of all elements; 0: any
    std::uint16_t operation = 0;  // value of the handle of a predefined operation
    std::uint16_t reserved = 0;
    std::uint32_t number = 0;       // type of the messages that belong to this one
    std::uint32_t type_bytes = 0;   // of the description; 0: the datatype is `element`
    std::int64_t displacement = 0;  // in bytes from the window's base; of dynamic windows: address
    std::int64_t count = 0;         // of the target's datatype
    std::int64_t lower = 0;  // the bytes that are accessed, from the displacement: [lower, upper)
    std::int64_t upper = 0;
    std::uint64_t bytes = 0;  // of the data in packed form, at the target

    // The length of the data that the origin sends.
    Bytes sent_bytes() const noexcept {
        return kind == AccessKind::kCompareAndSwap ? 2 * bytes : takes_data(kind) ? bytes : 0;
    }
};
static_assert(sizeof(Access) == 56);

// Carries out an operation that changes memory or fetches from it: `data` are the origin's data in
// packed form, `fetched` receives the old contents in packed form; each is null if the kind has
// none. `memory` is the address of the displacement and `layout` the target's elements there. An
// operation for which is_atomic() is true must not run at the same time as another one on the same
// window of the same target. Precondition: has_access_operation() is true of an accumulate.
void carry_out(const Access& access, std::byte* memory, const TypedLayout& layout,
               const std::byte* data, std::byte* fetched);

// True if the predefined operation may be applied to elements of this predefined datatype.
// MPI_REPLACE and MPI_NO_OP take all datatypes; the others take those that they take in reductions.
bool has_access_operation(std::uint16_t operation, std::uint16_t element) noexcept;

}  // namespace poe::mpi
