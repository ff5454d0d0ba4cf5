// What this computer is called: its own name, and the test whether a name in a host file means it.
// Apart from task_map, which is pure, because this asks the system and maybe a name server.
#pragma once

#include <string>
#include <string_view>

#include "partition_manager/task_map.hpp"

namespace poe::pm {

// The host name as the kernel has it ("localhost" when it has none). Cheap; never asks a name
// server.
std::string local_host_name();

// The real IsThisNode: true for localhost and loopback addresses, the host name in short or full
// form (letter case does not matter), and every name or address that resolves to an address of an
// interface of this computer. Making it costs nothing. Calling it asks the name service only when
// the name is not one of the known ones, and may then block for as long as that takes.
IsThisNode local_name_test();

}  // namespace poe::pm
