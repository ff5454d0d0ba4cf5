// Converts observations of a task (pm::WatchedTask) to the row of a display: its state, processes
// and marks in words. Used for the tasks of this node and of others. Pure.
#pragma once

#include "markerarray/snapshot.hpp"
#include "partition_manager/job/watched_task.hpp"

namespace poe::markers {

// Sets activity, doing and waits_ms from a task's state and processes.
void describe(const pm::TaskState& state, const pm::ProcessesView& processes, TaskRow& row);

TaskRow row_of(const pm::WatchedTask& task);

// For a task whose daemon has gone, so that its end is unknown.
void lose(TaskRow& row);

}  // namespace poe::markers
