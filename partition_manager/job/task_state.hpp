// What one task of a job is doing, as plain data: read from a node segment, carried from `pmd` to
// `poe`, judged by wait_graph.hpp, shown by poestat. Times are ages at the moment of the look, so
// that nobody compares clocks of two nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/segment/task_activity.hpp"
#include "base/segment/wait_notes.hpp"

namespace poe::pm {

struct TaskState {
    enum class Life : std::uint8_t {
        kOutside,  // runs, and has not called MPL (yet)
        kInside,   // runs, and has
        kEnded,
    };

    TaskId task = 0;
    NodeIndex node = 0;
    Life life = Life::kOutside;
    std::int32_t pid = 0;           // 0: not known
    int wait_status = 0;            // of a task that has ended, as wait(2) tells it
    bool measured = false;          // the wait has lasted so long that the fields below count
    Awaited awaited;                // whom it waits for
    TaskActivity doing;             // since_ms is not for use here
    std::uint32_t waits_ms = 0;     // since the call began to wait
    std::uint32_t unmoved_ms = 0;   // since anything moved in this wait
    std::uint32_t unlooked_ms = 0;  // since the task last looked whether it can go on, in vain
    UnexpectedView unexpected;      // messages it holds and has not asked for

    // Waits, nothing has moved for `patience`, and the task has run since: it has looked for
    // messages that had been there, and is neither stopped nor starved.
    bool stuck_for(std::chrono::milliseconds patience) const noexcept {
        return life == Life::kInside && measured && doing.call != Call::kNone &&
               std::chrono::milliseconds(unmoved_ms) >= patience &&
               std::chrono::milliseconds(unlooked_ms) * 2 <= patience;
    }
};

// The state of one task of the segment's node, and of all in task order. Only reads the segment;
// never blocks. `now` is the time by CLOCK_MONOTONIC.
TaskState look_at_task(const NodeSegment& segment, std::uint32_t local_index,
                       std::chrono::steady_clock::time_point now);
std::vector<TaskState> look_at_tasks(const NodeSegment& segment,
                                     std::chrono::steady_clock::time_point now);

}  // namespace poe::pm
