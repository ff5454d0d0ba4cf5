// Reads the message queues of a task from its memory (base/segment/match_queues.hpp). Nothing is
// called in the task, and the task does not notice it.
#pragma once

#include "base/segment/segment_layout.hpp"
#include "partition_manager/job/message_queues.hpp"

namespace poe::pm {

// Reads from the process of the slot. Never blocks; the work is bounded. A task that runs meanwhile
// is found to be changing unless two readings agree.
MessageQueues read_message_queues(const TaskSlot& slot);

}  // namespace poe::pm
