// An index with blocks of unequal length in the shared memory of a node. Each member knows its own
// blocks only, so the members first exchange their lengths (shm/irregular_index.hpp). Then all know
// whether the blocks have been moved already, go through the slots for long calls, or go as
// messages, which the caller sends.
#pragma once

#include <optional>
#include <span>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/planned_movement.hpp"
#include "collectives/shm/exchange_block.hpp"

namespace poe::collectives {

// Makes the call; blocks. `blocks` has the own blocks by rank; their lengths may be changed. Empty:
// the data must go as messages, and nothing was moved. All members of the group call it at the same
// call and get the same answer.
std::optional<ExchangeEnd> exchange_in_memory(CollectiveContext& context, Group& group,
                                              std::span<ExchangeBlock> blocks);

}  // namespace poe::collectives
