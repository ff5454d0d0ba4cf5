// The names of this computer: its own name, and the names in a host file that denote it. Separate
// from task_map, which is pure, because this queries the system and possibly a name server.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// Returns the host name from the kernel ("localhost" if there is none). Cheap; never queries a name
// server.
std::string local_host_name();

// The implementation of FindThisNode. These names denote this computer:
// - localhost and loopback addresses,
// - the host name in short or full form (letter case is ignored),
// - every name or address that resolves to an address of an interface of this computer.
//
// The name service is queried only for other names than the host name, once for all of them, and
// the call blocks until it has answered.
std::vector<bool> find_this_node(const std::vector<std::string>& names);

}  // namespace poe::pm
