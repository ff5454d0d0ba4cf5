// The data movement of an irregular call whose line of the plan combines short blocks
// (planned_calls.hpp). The blocks travel by combined_steps(), each with its length, so the lengths
// need not be those of the plan:
//   1. In each step, a member sends one message. It has the notice (PlanNotice) that the member
//      knows, then the lengths of the step's blocks, then the blocks. The messages of a round are
//      under way at the same time; a member receives all of them before it begins the next round.
//   2. In place of a block that is longer than the limit of the line, only a mark travels.
//      After all rounds, its sender sends it directly, and its receiver, which has got the mark,
//      receives it.
// Each member sends a block, perhaps an empty one, to every other member, and each message contains the
// notice that its sender knows. After the call, all members therefore know the same notice. From the
// next call on, no member follows the line.
#pragma once

#include "collectives/engine/planned_movement.hpp"

namespace poe::collectives {

// See exchange_planned(), which calls it. Precondition: the line has combined steps.
ExchangeEnd exchange_combined(const PlannedMove& move);

}  // namespace poe::collectives
