// The address at which other nodes of a job reach the home node.
#pragma once

#include <string>

namespace poe::pm {

// Returns the numeric address from which this computer would communicate with `name`. Queries the
// name service and may block for that; sends nothing to `name`. Empty if the name is unknown or
// unreachable.
std::string address_towards(const std::string& name);

}  // namespace poe::pm
