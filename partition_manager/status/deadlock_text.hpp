// The words of wait_graph.cpp: what is said about tasks that are stuck. Apart from finding them.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

// "waits in mpc_brecv for type 7 from task 5": what a waiting task does, behind its name.
std::string wait_in_words(const TaskState& state);

// Whom each stuck task waits for in the end: behind tasks that are in the same collective call.
class WaitTargets {
  public:
    // `states` by task id, null for tasks not known; both must outlive the object.
    WaitTargets(const std::vector<const TaskState*>& states, const std::vector<TaskId>& stuck);

    // Of those that wait for all: for the first that is missing. -1: for nobody in particular, or
    // the task is not stuck.
    TaskId of(TaskId task) const;
    std::size_t tasks() const { return states_.size(); }

  private:
    const std::vector<const TaskState*>& states_;
    std::vector<bool> stuck_;
};

// Tasks that wait for the same share a line; circles come first, in their order; then what was sent
// and not asked for. At most a screenful, however many tasks there are.
std::vector<std::string> lines_about(const std::vector<const TaskState*>& states,
                                     const std::vector<TaskId>& stuck,
                                     const std::vector<std::vector<TaskId>>& circles,
                                     const WaitTargets& targets);

}  // namespace poe::pm
