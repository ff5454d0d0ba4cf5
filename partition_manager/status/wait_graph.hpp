// Finds which task waits for which, and which tasks can never continue: pure functions of the
// states of a job's tasks, so that every form of deadlock is tested without a process.
//
// A task is stuck if it waits, has not moved for a while, and every task that could wake it is
// stuck too or has ended. The stuck tasks are the largest set with this property. A task that waits
// until all tasks have made its call is stuck as soon as one task is stuck that waits in another
// way. A task could wake any other if it computes, sleeps, reads input or is stopped, or if its
// state is not known.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

struct WaitFindings {
    std::vector<TaskId> stuck;  // in ascending order; empty: no deadlock
    std::vector<std::vector<TaskId>>
        // Each task waits for the next one, the last for the first.
        cycles;
    // Describes which task waits where for what, and what was sent.
    std::vector<std::string> lines;

    // "deadlock: tasks 3,5 wait for each other and can never go on"; `lines` explain it.
    std::string headline() const;
};

// `states` may be in any order. A task of the job that is not among them counts as able to do
// anything. `patience`: how long a waiting task must not have moved (TaskState::stuck_for).
WaitFindings find_deadlock(std::span<const TaskState> states, TaskId tasks,
                           std::chrono::milliseconds patience);

// Returns how long a waiting task must not have moved. It is short enough for a deadlock to be
// found and reported within the timeout (-deadlock_timeout) after the deadlock has begun.
constexpr std::chrono::milliseconds deadlock_patience(std::chrono::milliseconds timeout) {
    return timeout * 7 / 10;
}

}  // namespace poe::pm
