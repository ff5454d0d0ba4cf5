// The data movement of an irregular call that follows a line of the plan (planned_calls.hpp). If
// the line combines blocks, combined_exchange.hpp makes the call. Otherwise each member sends its
// messages in the phases of the plan:
//   1. In a phase with signals, a member starts its receive and then signals to its sender, by a
//      message without data. The sender sends after that.
//   2. A member that knows that the plan does not fit sends a notice before each long message of
//      the plan. A receiver that gets a notice where it expects such a message receives the message
//      next.
//   3. After all phases, the messages that do not fit the plan are sent, all at once. An empty
//      message is not sent. If the plan has a long message for this pair, a notice is sent first.
// The messages of a call have one type. Messages between two members do not overtake each other,
// and both know the order of the messages between them, so they are not confused.
#pragma once

#include "collectives/engine/planned_movement.hpp"

namespace poe::collectives {

// Makes a call by the plan; blocks. After a failure, the phases that follow are omitted.
ExchangeEnd exchange_planned(const PlannedMove& move);

}  // namespace poe::collectives
