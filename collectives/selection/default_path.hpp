// Which way a blocking call within a node is made where nobody has measured (mptune -table): by
// messages, in shared memory, or straight between the members' memories. What was found on small
// computers with 2 to 16 members; apart from the three ways themselves, which say only what they
// can do.
#pragma once

#include "collectives/schedule/shape.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// Short calls are made in shared memory.
inline constexpr Bytes kShortCall = 1024;
Transport default_transport_of_long(const Shape& shape) noexcept;

// Depends on the shape only, so all members agree. A call that cannot be made straight between
// memories is made in shared memory, and what cannot be made there by messages. Fast: every call
// asks.
inline Transport default_transport(const Shape& shape) noexcept {
    return shape.bytes <= kShortCall ? Transport::kShared : default_transport_of_long(shape);
}

}  // namespace poe::collectives
