// Reads what an observed task keeps in its own memory.
#pragma once

#include <cstdint>

#include "base/segment/segment_layout.hpp"
#include "partition_manager/job/observed_evidence.hpp"

namespace poe::pm {

// Reads from the process of the slot; never blocks. The result is not known if the task has moved
// on meanwhile, or if the kernel forbids reading. The task may have written anything, so the amount
// that is read is bounded, and every address and number is checked.
ObservedEvidence read_observed_memory(const TaskSlot& slot);

}  // namespace poe::pm
