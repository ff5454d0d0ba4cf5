// WindowLocks: who holds the locks of windows (MPI_Win_lock, MPI_Win_lock_all), to find out for
// whom a task has waited. Neither the task that waits nor the holder records the wait: it follows
// from the times at which locks were taken and given back.
//
// A lock that a task takes at the time t, in a call that began at s, was held by others that
// exclude it until the last of them gave it back after s. A holder gives the lock back in
// MPI_Win_unlock, whose end may be recorded after the next task has gone on; therefore it counts as
// given back at t if it is in that call.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/types.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// What is locked: the part of a task, or the parts of all members, in the window with this matching
// context.
struct LockedPart {
    static constexpr std::uint32_t kAll = 0xffffffff;  // as kNobody in a record
    std::uint32_t window = 0;
    std::uint32_t target = kAll;
};

// For one thread. Calls must come in the order of time. Keeps one hold for each task and part.
class WindowLocks {
  public:
    struct Holder {
        TaskId task = 0;
        Time until{0};
    };
    // The task has taken the lock, in a call that began at `since`. Returns the task that held it
    // last, if that was after `since`.
    std::optional<Holder> taken(TaskId task, LockedPart part, bool exclusive, Time since, Time now);
    // The task has entered the call in which it gives the lock back; it has left that call.
    void giving_back(TaskId task, LockedPart part);
    void given_back(TaskId task, LockedPart part, Time now);

  private:
    struct Hold {
        bool exclusive = false;
        bool giving_back = false;
        std::optional<Time> given_back;
    };
    using Holds = std::unordered_map<TaskId, Hold>;

    template <typename Change>
    void change(TaskId task, LockedPart part, const Change& what);

    // By window and target. The exclusive holds of any single target have a key of their own, for
    // tasks that lock all.
    std::unordered_map<std::uint64_t, Holds> holds_;
};

}  // namespace poe::trace
