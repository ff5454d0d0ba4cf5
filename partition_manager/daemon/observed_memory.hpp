// Reads what an observed task keeps in its own memory.
#pragma once

#include <cstdint>

#include "base/segment/segment_layout.hpp"
#include "partition_manager/job/observed_evidence.hpp"

namespace poe::pm {

// Reads from the process of the slot; never blocks. Not known if the task has moved on meanwhile,
// or if the kernel forbids it. The task may write anything there: whatever is read is bounded, and
// nothing of it is trusted to be an address or a number that exists.
ObservedEvidence read_observed_memory(const TaskSlot& slot);

}  // namespace poe::pm
