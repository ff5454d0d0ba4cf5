// History: what each task did, in the order of time, and what connects the tasks: messages,
// collective operations and waits. Plain arrays; root causes, critical path and efficiencies are
// pure functions of them. What grows with the trace is in LongVectors. history_maker.hpp fills a
// History from a trace.
//
// The activities of a task cover its time without gaps or overlaps. An activity ends where the next
// one begins; the last one marks the end.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/per_task.hpp"
#include "tracer/analysis/wait_pattern.hpp"
#include "tracer/diagnosis/long_vector.hpp"
#include "tracer/read/definitions.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// What a task did: computed, or was in an outermost call.
struct Activity {
    Time from{0};
    std::uint32_t region = 0;  // the call; of computing: the innermost user's region, 0: none
    std::uint32_t site = 0;    // of the call; of computing: that of the call that follows
    std::uint32_t phase = 0;   // the outermost user's region, 0: none
    State state = State::kOff;
    bool is_call = false;
};

inline constexpr std::uint32_t kNoActivity = std::numeric_limits<std::uint32_t>::max();

// A message of the program whose two ends are known. Calls are numbers of activities, or
// kNoActivity.
struct TaskMessage {
    TaskId from = 0;
    TaskId to = 0;
    std::uint32_t send_call = kNoActivity;
    std::uint32_t receive_call = kNoActivity;
    std::uint32_t communicator = 0;
    Time sent{0};
    Time received{0};
    Time send_since{0};  // the calls began
    Time receive_since{0};
};

struct CollectiveOperation {
    DataFlow flow = DataFlow::kNone;
    TaskId root = -1;
};

// The part of a task in a collective operation. A non-blocking operation starts in one call and
// ends in another one; `end_call` is kNoActivity if the trace does not show its end.
struct Member {
    std::uint32_t operation = 0;
    TaskId task = 0;
    std::uint32_t communicator = 0;
    std::uint32_t start_call = kNoActivity;
    std::uint32_t end_call = kNoActivity;
    Time entered{0};
    Time left{0};
    Time end_since{0};  // the call in which it ends began
};

// A task could not continue in a call until `whom` did something at the time `to`. A task that
// polls for a message may do something else meanwhile, so this is no wait state and costs nothing;
// but it leads root causes and the critical path to the sender.
struct TaskWait {
    WaitPattern pattern = WaitPattern::kLateSender;
    TaskId task = 0;
    TaskId whom = 0;
    std::uint32_t call = kNoActivity;
    std::uint32_t communicator = 0;
    Time from{0};
    Time to{0};
    bool polls = false;
    Time length() const { return to - from; }
    Time cost() const { return polls ? Time{0} : length(); }
};

// The number of a communicator: its matching context for MPI, the group for MPL.
inline constexpr std::uint32_t kNoCommunicator = 0;      // a message without a communicator
inline constexpr std::uint32_t kMplGroup = 0x80000000u;  // this bit, and the group's number

struct History {
    Time begin{0};                        // of the earliest activity
    Time end{0};                          // of the latest activity
    PerTask<LongVector<Activity>> tasks;  // empty for a device, and for a task without events
    LongVector<TaskMessage> messages;     // in the order in which both ends were known
    LongVector<CollectiveOperation> operations;
    LongVector<Member> members;  // in the order in which they entered
    LongVector<TaskWait> waits;  // by task, then by time; those of a task do not overlap
    // True if the trace has more than the limit allows; then everything else is empty.
    bool too_long = false;

    // Returns the end of an activity. The last activity of a task has no length.
    Time end_of(TaskId task, std::size_t activity) const {
        const LongVector<Activity>& all = tasks[task];
        return activity + 1 < all.size() ? all[activity + 1].from : all[activity].from;
    }
    // Returns the number of the last activity that begins at or before a moment; kNoActivity if
    // there is none.
    std::uint32_t activity_at(TaskId task, Time moment) const;
    // Returns the number of the call that begins at that moment; kNoActivity if there is none.
    std::uint32_t call_since(TaskId task, Time since) const;
    // Returns the waits of a task, which are a part of `waits`. Only after complete().
    std::span<const TaskWait> waits_of(TaskId task) const {
        const std::size_t first = task == 0 ? 0 : wait_ends[task - 1];
        return std::span(waits).subspan(first, wait_ends[task] - first);
    }
    // Returns the number of a wait in `waits`.
    std::size_t number_of(const TaskWait& wait) const {
        return static_cast<std::size_t>(&wait - waits.data());
    }
    PerTask<std::size_t> wait_ends;  // by task: the number of the first wait of later tasks
};

}  // namespace poe::trace
