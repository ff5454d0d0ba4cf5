// What one task of a job is doing, as plain data: read from a node segment, sent from `pmd` to
// `poe`, evaluated by wait_graph.hpp, shown by poestat. Times are ages at the moment of reading, so
// that clocks of different nodes are never compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/segment/task_activity.hpp"
#include "base/segment/wait_notes.hpp"
#include "partition_manager/job/message_queues.hpp"
#include "partition_manager/job/observed_evidence.hpp"

namespace poe::pm {

struct TaskState {
    enum class Life : std::uint8_t {
        kOutside,  // runs, and has not called MPL (yet)
        kInside,   // runs, and has called MPL
        kEnded,
    };

    TaskId task = 0;
    NodeIndex node = 0;
    Life life = Life::kOutside;
    std::int32_t pid = 0;  // 0: unknown
    int wait_status = 0;   // of a task that has ended, in the format of wait(2)
    // The wait has lasted long enough for the fields below to be valid.
    bool measured = false;
    Awaited awaited;           // the task that it waits for
    TaskActivity doing;        // since_ms is not used here
    std::string communicator;  // the name of that of the call; empty: none, or not measured
    std::string place;         // of the call in the program, as "ring.c:42"; empty if not asked for
    std::uint32_t waits_ms = 0;    // since the call began to wait, in ms
    std::uint32_t unmoved_ms = 0;  // since the last progress in this wait, in ms
    // Since the task last checked for progress without finding any, in ms.
    std::uint32_t unlooked_ms = 0;
    UnexpectedView unexpected;  // messages that have arrived and have no receive
    // Of the task's process and its descendants, if add_process_states() was called.
    bool idle = false;      // none of them runs at present
    bool stopped = false;   // by a signal or a debugger
    bool observed = false;  // it uses another MPI library
    // If an observed task waits for one of several requests: the tasks that could complete one; -1:
    // any task. `awaited` is that of the first request. resolve_observed_waits() finds them, so
    // they are not sent.
    std::vector<TaskId> alternatives;
    // If several threads of a task wait: the tasks that could end the wait of one of them. `doing`
    // and `awaited` are those of the first thread. find_deadlock() finds them, so they are not
    // sent.
    std::vector<TaskId> awaited_by_threads;
    // Known only if the task waits, is observed or has several threads that may call, and the
    // daemon looks for deadlocks.
    ObservedEvidence evidence;
    MessageQueues queues;  // if a debugger asks

    // True if the task waits, nothing has moved for `patience`, and the task has run since. The
    // last condition means that it has checked for messages and is neither stopped nor starved.
    bool stuck_for(std::chrono::milliseconds patience) const noexcept {
        return life == Life::kInside && measured && doing.call != Call::kNone &&
               std::chrono::milliseconds(unmoved_ms) >= patience &&
               std::chrono::milliseconds(unlooked_ms) * 2 <= patience;
    }
    bool operator==(const TaskState&) const = default;
};

// Return the state of one task of the segment's node, and of all of them in task order. Only read
// the segment; never block. `now` is the time by CLOCK_MONOTONIC.
TaskState look_at_task(const NodeSegment& segment, std::uint32_t local_index,
                       std::chrono::steady_clock::time_point now);
std::vector<TaskState> look_at_tasks(const NodeSegment& segment,
                                     std::chrono::steady_clock::time_point now);

}  // namespace poe::pm
