// The data movement of an irregular call that follows a line of the plan (planned_calls.hpp). If the
// line combines blocks, combined_exchange.hpp makes the call. Otherwise each member sends its messages
// in the phases of the plan:
//   1. In a phase with signals, a member starts its receive and then signals to its sender, by a
//      message without data. The sender sends after that.
//   2. A member that knows that the plan does not fit sends a notice before each long message of the
//      plan. A receiver that gets a notice where it expects such a message receives the message next.
//   3. After all phases, the messages that do not fit the plan are sent, all at once: before each
//      that the plan has as a long one, a notice; then the message unless it is empty.
// The messages of a call have one type. Messages between two members do not overtake each other, and
// both know the order of the messages between them, so they are not confused.
#pragma once

#include <span>

#include "collectives/engine/call_progress.hpp"
#include "collectives/engine/planned_block.hpp"
#include "collectives/engine/planned_calls.hpp"
#include "comm/matching/message_layer.hpp"

namespace poe::collectives {

// Makes a call by the plan; blocks. `blocks`: by rank in the group, also the own one, valid until the
// function returns. `type` and `context` are those of the messages. `progress` learns of the phases. After a
// failure, the phases that follow are omitted.
ExchangeEnd exchange_planned(comm::MessageLayer& messages, const Group& group, PlannedLine& line,
                             std::span<const PlannedBlock> blocks, std::int32_t type,
                             std::uint32_t context, CallProgress& progress);

}  // namespace poe::collectives
