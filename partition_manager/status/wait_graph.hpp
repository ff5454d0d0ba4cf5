// Who waits for whom, and which tasks can never go on: pure functions of the states of a job's
// tasks, so that every shape of deadlock is tested without a process.
//
// A task is stuck when it waits, has not moved for a while, and everybody who could wake it is
// stuck too or has ended; the stuck tasks are the largest set of which that is true. One that waits
// until all have made its call is stuck as soon as one is that does not wait so. A task that
// computes, sleeps, reads input, is stopped, or whose state is not known, could wake anybody.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

struct WaitFindings {
    std::vector<TaskId> stuck;  // in rising order; empty: no deadlock
    std::vector<std::vector<TaskId>>
        cycles;                      // each task waits for the next, the last for the first
    std::vector<std::string> lines;  // in words: who waits where for what, what was sent

    // "deadlock: tasks 3,5 wait for each other and can never go on"; what `lines` explain.
    std::string headline() const;
};

// `states` in any order; a task of the job that is not among them counts as able to do anything.
// `patience`: how long nothing must have moved (TaskState::stuck_for).
WaitFindings find_deadlock(std::span<const TaskState> states, TaskId tasks,
                           std::chrono::milliseconds patience);

// How long nothing must have moved in a wait, so that a deadlock is found and reported within the
// timeout (-deadlock_timeout) after it came about.
constexpr std::chrono::milliseconds deadlock_patience(std::chrono::milliseconds timeout) {
    return timeout * 7 / 10;
}

}  // namespace poe::pm
