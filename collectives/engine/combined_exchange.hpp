// The data movement of an irregular call whose line of the plan combines short blocks
// (planned_calls.hpp). The blocks travel by combined_steps(), each with its length, so the lengths
// need not be those of the plan:
//   1. In each step, a member sends one message: the notice (PlanNotice) that the member knows, the
//      lengths of the step's blocks, and the blocks. The messages of a round are under way at the
//      same time; a member receives all of them before it begins the next round.
//   2. A block that is longer than the limit of the line is replaced by a mark. After all rounds,
//      its sender sends the block directly to the receiver, which knows from the mark that it
//      comes.
// Each member sends a block, perhaps an empty one, to every other member, and each message contains
// the notice that its sender knows. After the call, all members therefore know the same notice.
// From the next call on, no member follows the line.
#pragma once

#include "collectives/engine/planned_movement.hpp"

namespace poe::collectives {

// See exchange_planned(), which calls it. Precondition: the line has combined steps.
ExchangeEnd exchange_combined(const PlannedMove& move);

}  // namespace poe::collectives
