// Calls with blocks of unequal length, of which each member knows its own only, in the shared
// memory of a node. In an index the members first exchange their lengths (shm/irregular_index.hpp).
// Then all know whether the blocks have been moved already, go through the slots for long calls, or
// go as messages, which the caller sends. In a gather or scatter (shm/irregular_rooted.hpp), the
// root and each other member find out the same for their block.
#pragma once

#include <optional>
#include <span>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/planned_movement.hpp"
#include "collectives/shm/exchange_block.hpp"
#include "collectives/shm/irregular_rooted.hpp"

namespace poe::collectives {

// Makes the call; blocks. `blocks` has the own blocks by rank; their lengths may be changed. Empty:
// the data must go as messages, and nothing was moved. All members of the group call it at the same
// call and get the same answer.
std::optional<ExchangeEnd> exchange_in_memory(CollectiveContext& context, Group& group,
                                              std::span<ExchangeBlock> blocks);

// Makes a gather or scatter as far as that is possible without messages; blocks. `blocks`: see
// irregular_rooted.hpp. The caller then sends and receives messages for those blocks whose length
// `follows`; that is all of them if the group has no shared memory.
ExchangeEnd exchange_with_root(CollectiveContext& context, Group& group, Operation operation,
                               Rank root, std::span<RootedBlock> blocks);

}  // namespace poe::collectives
