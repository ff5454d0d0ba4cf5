// The transport of a blocking call within a node if it has not been measured (mptune -table):
// messages, shared memory, or single copy between the members' memories. The limits were measured
// on small computers with 2 to 16 members. They are separate from the three transports, which say
// only what they support.
#pragma once

#include "collectives/schedule/shape.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// Calls of at most this length, in bytes, are made in shared memory.
inline constexpr Bytes kShortCall = 1024;
Transport default_transport_of_long(const Shape& shape) noexcept;

// Returns the default transport. Depends on the shape only, so all members decide alike. If the
// group cannot use single copy, it uses shared memory; if it cannot use that, messages. Inline,
// because every call asks.
inline Transport default_transport(const Shape& shape) noexcept {
    return shape.bytes <= kShortCall ? Transport::kShared : default_transport_of_long(shape);
}

}  // namespace poe::collectives
