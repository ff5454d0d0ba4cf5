// Where this computer is reached from others, for tasks without poe, whose node list would say it.
#pragma once

#include "base/segment/endpoint.hpp"

namespace poe::comm {

// The address by which other computers reach this one: of its interfaces that are up, not loopback,
// with an IPv4 address if any has one, the one that the host's own name stands for, or the first.
// May ask the name service, when there is a choice. Throws Error when there is none.
NodeAddress own_address();

}  // namespace poe::comm
