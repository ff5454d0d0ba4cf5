// Evidence whether an observed task (mpi/observe), or a task of our own library with several
// calling threads, can continue. Plain data: `pmd` reads it from the memory of the task, and it is
// evaluated together with that of the other tasks (partition_manager/status/observed_waits.hpp,
// wait_graph.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/segment/observed_tables.hpp"
#include "base/segment/task_activity.hpp"
#include "base/segment/wait_notes.hpp"

namespace poe::pm {

struct LineCount {
    std::uint32_t context = 0;
    TaskId peer = 0;
    std::int32_t tag = 0;
    std::uint32_t count = 0;
    bool operator==(const LineCount&) const = default;
};

struct CommCount {
    std::uint32_t context = 0;
    std::uint32_t operations = 0;
    bool operator==(const CommCount&) const = default;
};

// The wait of a thread.
struct ThreadWait {
    bool one_suffices = false;
    std::vector<ObservedNeed> needs;
    // Only if several threads may call; otherwise the state of the task has them (TaskState).
    TaskActivity doing;        // since_ms is not used here
    std::string communicator;  // the name
    std::string place;
    // As in TaskState. Those of an observed task are found by resolve_observed_waits() if several
    // threads wait.
    Awaited awaited;
    std::vector<TaskId> alternatives;  // not sent
    bool operator==(const ThreadWait&) const = default;
};

// The members as in ObservedTables. A task of our own library has `known`, `waits` and
// `many_threads` only.
struct ObservedEvidence {
    static constexpr std::size_t kMostCounts = 4096;

    // False: it could not be read, or there is too much of it. Then the task counts as able to
    // continue.
    bool known = false;
    std::uint32_t wildcards = 0;
    // One for each thread that is in a call. No other thread can act.
    std::vector<ThreadWait> waits;
    std::vector<LineCount> sends;
    std::vector<LineCount> receives;
    bool many_threads = false;
    std::vector<LineCount> ended;
    std::vector<CommCount> comms;
    bool operator==(const ObservedEvidence&) const = default;
};

}  // namespace poe::pm
