// Elements of predefined datatypes without gaps, and what atomic operations do to them. Both sides
// use these functions: an origin on memory that it has mapped (at_once.hpp), and a target on
// operations of its mailbox (service.hpp). They are separate because they know neither windows nor
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy_block.hpp"
#include "base/types.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {

// The lengths of single numbers are copied without a call.
inline void copy_elements(void* to, const void* from, Bytes bytes) noexcept {
    if (bytes == sizeof(std::uint64_t)) {
        std::memcpy(to, from, sizeof(std::uint64_t));
    } else if (bytes == sizeof(std::uint32_t)) {
        std::memcpy(to, from, sizeof(std::uint32_t));
    } else {
        copy_block(to, from, bytes);
    }
}

// What an operation of an accumulate does. At most one of the three is there; if none is, the
// operation is not defined on the datatype.
struct Change {
    ReductionKernel kernel = nullptr;
    bool copies = false;  // it stores the data themselves
    bool keeps = false;   // it changes nothing

    bool known() const noexcept { return kernel != nullptr || copies || keeps; }
    // Preconditions: known(), and the caller holds the accumulate lock.
    void apply(const void* data, void* memory, Bytes bytes) const {
        if (copies) {
            copy_elements(memory, data, bytes);
        } else if (kernel != nullptr) {
            kernel(data, memory, memory, bytes);
        }
    }
};

// The change of the operation with this value on elements with this code (0: any). For a caller
// that has the turn: programs repeat their operations, so the last change is kept. To look it up
// takes as long as to add a number.
const Change& repeated_change(std::uint16_t operation, std::uint16_t element) noexcept;

// Fetches the element and stores `given` if it equals `compared`. Precondition: the caller holds
// the accumulate lock.
inline void swap_if_equal(void* memory, const void* given, const void* compared, void* fetched,
                          Bytes bytes) noexcept {
    copy_elements(fetched, memory, bytes);
    if (std::memcmp(fetched, compared, bytes) == 0) copy_elements(memory, given, bytes);
}

}  // namespace poe::mpi
