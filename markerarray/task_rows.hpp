// From what was seen of a task (pm::WatchedTask) to the row of a display: what its state, processes
// and marks mean in words. The same for tasks of this node and of others. Pure.
#pragma once

#include "markerarray/snapshot.hpp"
#include "partition_manager/job/watched_task.hpp"

namespace poe::markers {

// What a task's state and processes mean: sets activity, doing and waits_ms.
void describe(const pm::TaskState& state, const pm::ProcessesView& processes, TaskRow& row);

TaskRow row_of(const pm::WatchedTask& task);

// The task's daemon went, and nobody has seen how it ended.
void lose(TaskRow& row);

}  // namespace poe::markers
