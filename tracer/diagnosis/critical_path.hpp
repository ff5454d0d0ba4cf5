// The critical path: the chain of activities that determined how long the job took. Pure.
//
// It is followed backwards from the end of the task that ended last. On a task it goes back to the
// end of the task's last wait. There it continues, at the same moment, on the task that was waited
// for. So its parts cover the time from the first to the last event without gaps, and shortening an
// activity that is not on it does not shorten the job.
#pragma once

#include <vector>

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

// A part of the path: on one task, from the end of a wait, or from the beginning, until the task of
// the next part waited for it, or until the end.
struct PathPart {
    TaskId task = 0;
    Time from{0};
    Time to{0};
};

// The time on the path of one activity of one task, in all parts.
struct PathShare {
    TaskId task = 0;
    State state = State::kOff;
    std::uint32_t region = 0;
    std::uint32_t site = 0;
    std::uint32_t phase = 0;
    Time time{0};
};

// The time on the path of an activity of any task, and the mean of the time that tasks spent in it.
// More on the path than in the mean is the part that a better balance could save.
struct PathImbalance {
    State state = State::kOff;
    std::uint32_t region = 0;
    Time on_path{0};
    Time mean{0};
    Time excess() const { return on_path > mean ? on_path - mean : Time{0}; }
};

struct CriticalPath {
    LongVector<PathPart> parts;             // in order of time
    std::vector<PathShare> shares;          // longest first; they add up to length()
    std::vector<PathImbalance> imbalances;  // by excess, largest first; those on the path only
    PerTask<Time> by_task;
    Time length() const;
};

// Empty if no task has an activity.
CriticalPath find_critical_path(const History& history);

}  // namespace poe::trace
