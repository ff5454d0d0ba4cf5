// Reads the message queues of a task from its memory (base/segment/match_queues.hpp), without any
// action of the task.
#pragma once

#include "base/segment/segment_layout.hpp"
#include "partition_manager/job/message_queues.hpp"

namespace poe::pm {

// Reads from the process of the slot, twice. If the two readings differ, the state is kChanging.
// Never blocks; the work is bounded.
MessageQueues read_message_queues(const TaskSlot& slot);

}  // namespace poe::pm
