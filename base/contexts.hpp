// The matching contexts of messages, as the message layer, watchers and traces use them.
#pragma once

#include <cstdint>

namespace poe {

// A matching context; in MPI, that of a communicator. A message matches only receives of its
// context, even receives with wildcards. Every number is valid in a frame: a message of a context
// that this task does not use yet waits for its receive.
using ContextId = std::uint32_t;
inline constexpr ContextId kMplContext = 0;        // MPL's sends and receives
inline constexpr ContextId kCclContext = 1;        // CCL's collective calls
inline constexpr ContextId kFirstMpiContext = 16;  // from here on: the communicators of MPI
// Bits of the contexts of messages that a library sends for a collective call of a communicator.
inline constexpr ContextId kInternalContexts = 0xf0000000u;

// True if the program itself sends the messages of this context, so that their types mean something
// to the user.
constexpr bool is_of_program(ContextId context) noexcept {
    return context != kCclContext && (context & kInternalContexts) == 0;
}

}  // namespace poe
