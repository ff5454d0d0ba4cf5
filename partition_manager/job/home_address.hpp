// Where the home node is reached from other nodes of its job.
#pragma once

#include <string>

namespace poe::pm {

// The numeric address from which this computer would speak to `name`. Asks the name service, and
// may block for that; sends nothing. Empty when the name is not known, or no way leads there.
std::string address_towards(const std::string& name);

}  // namespace poe::pm
