// The texts about stuck tasks. Separate from wait_graph.cpp, which finds these tasks.
#pragma once

#include <string>
#include <vector>

#include "base/per_task.hpp"
#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

// Finds the task that each stuck task ultimately waits for, beyond tasks that are in the same
// collective call.
class WaitTargets {
  public:
    // A task that is not known has a null pointer. `states` must outlive the object.
    WaitTargets(const PerTask<const TaskState*>& states, const std::vector<TaskId>& stuck);

    // Returns the task that `task` waits for. For a task that waits for all: the first stuck task
    // that does not wait for all. -1: no particular task, or `task` is not stuck.
    TaskId of(TaskId task) const;
    TaskId tasks() const { return states_.size(); }

  private:
    const PerTask<const TaskState*>& states_;
    PerTask<bool> stuck_;
};

// The call that a task is in and what it waits for there: "mpc_brecv for type 5 from task 1".
// Follows "waits in " or "wait in ".
std::string call_in_words(const TaskState& state);

// Returns the lines of the text. Tasks that wait for the same thing share a line. Cycles come
// first, in their order, then the other stuck tasks, then messages that were sent but not asked
// for. The text fits on a screen for any number of tasks.
std::vector<std::string> lines_about(const PerTask<const TaskState*>& states,
                                     const std::vector<TaskId>& stuck,
                                     const std::vector<std::vector<TaskId>>& circles,
                                     const WaitTargets& targets);

}  // namespace poe::pm
