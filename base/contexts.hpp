// The matching contexts of messages, which watchers and traces name too.
#pragma once

#include <cstdint>

namespace poe {

// MPI calls it the context of a communicator. Messages of different contexts never match each
// other, wildcards included. Every number is valid in a frame: a message of a context that this
// task does not use yet waits for its receive.
using ContextId = std::uint32_t;
inline constexpr ContextId kMplContext = 0;        // MPL's sends and receives
inline constexpr ContextId kCclContext = 1;        // CCL's collective calls
inline constexpr ContextId kFirstMpiContext = 16;  // from here on: the communicators of MPI
// Bits of the contexts of messages that a library sends for a collective call of a communicator.
inline constexpr ContextId kInternalContexts = 0xf0000000u;

// True if the messages of the context are the program's own, so that their types mean something to
// the user.
constexpr bool is_of_program(ContextId context) noexcept {
    return context != kCclContext && (context & kInternalContexts) == 0;
}

}  // namespace poe
