// The faults of a collective call whose messages have failed.
#pragma once

#include "collectives/engine/plan.hpp"
#include "collectives/engine/planned_movement.hpp"
#include "comm/matching/request.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Each of these stores why something has failed in `fault`, unless it did not fail or `fault`
// contains an earlier failure.

// A message from or to a task.
void note_failure(comm::Outcome outcome, TaskId task, Fault& fault);
// A receive that has ended. `exact`: a shorter message is a failure, too.
void note_failure(const comm::ReceiveRequest& receive, bool exact, Fault& fault);
void note_failure(const collectives::ExchangeEnd& end, Fault& fault);
// A run of a plan that has ended.
inline void note_failure(const collectives::Plan& plan, Fault& fault) {
    if (plan.went_wrong()) [[unlikely]]
        note_failure({plan.outcome(), plan.culprit(), plan.came(), plan.expected()}, fault);
}

}  // namespace poe::mpi
