// What this computer is called: its own name, and which names in a host file mean it.
// Apart from task_map, which is pure, because this asks the system and maybe a name server.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// The host name as the kernel has it ("localhost" when it has none). Cheap; never asks a name
// server.
std::string local_host_name();

// The real FindThisNode: localhost and loopback addresses, the host name in short or full form
// (letter case does not matter), and every name or address that resolves to an address of an
// interface of this computer. Asks the name service only for names that are none of the known ones,
// for all of them at once, and may then block for as long as that takes.
std::vector<bool> find_this_node(const std::vector<std::string>& names);

}  // namespace poe::pm
