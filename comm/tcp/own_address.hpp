// The address at which other computers reach this one, for tasks without poe. poe would have a node
// list that contains it.
#pragma once

#include "base/segment/endpoint.hpp"

namespace poe::comm {

// Returns the address at which other computers reach this one. It considers the interfaces that are
// up, without loopback, and their IPv4 addresses, or their IPv6 addresses if there are no IPv4
// ones. Of several addresses it prefers the one that the host's own name resolves to, otherwise the
// first. Blocks while it asks the name service if there is a choice. Throws Error if there is no
// address.
NodeAddress own_address();

}  // namespace poe::comm
