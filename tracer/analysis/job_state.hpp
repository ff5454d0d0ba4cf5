// JobState: everything known of a job at one moment of its trace: the calls that each task is in,
// and totals up to that moment. Plain data.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/segment/marker_row.hpp"
#include "tracer/read/definitions.hpp"
#include "tracer/read/messages.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// A call or a user's region that a task is in.
struct CallFrame {
    std::uint32_t region = 0;  // a number of Definitions
    std::uint32_t site = Definitions::kNoSite;
    std::uint32_t peer = kNobody;
    std::uint32_t type = 0;
    Time since{0};
    Time inner{0};                 // spent in frames inside this one, so far
    Time waited_until{0};          // end of the last reported wait; an outermost call only
    Time received{0};              // the last arrival of a message; an outermost call only
    std::uint64_t collective = 0;  // which call of its group; 0: none
    std::uint32_t window = 0;      // of a call about locks: the window's matching context
    Bytes bytes =
        0;  // of its collective operation, and of the program's messages that it sent or received
    // How the collective call is carried out: the region that names it, 0: not known; its round,
    // and since when.
    std::uint32_t path = 0;
    std::uint32_t round = 0;
    std::uint32_t rounds = 0;
    Time round_since{0};
};

// A send of a task that has not ended according to the trace.
struct OpenSend {
    TaskId to = 0;
    std::uint32_t type = 0;
    std::uint16_t number = 0;
    std::uint32_t line = 0;  // of the message
    bool received = false;
    bool ends_later = false;  // a later call than the one that started it ends it
    Time sent{0};
    Time call_since{0};  // start of the call that started it
    Time came{0};        // once received: when the receiver entered its call
};

struct TaskTimeline {
    State state = State::kOff;
    Time since{0};  // start of this state; `spent` includes time up to here
    // The innermost user's region in which the task computes; 0: it is in no region, or in a call.
    std::uint32_t region = 0;
    Time region_since{0};  // earlier computing has been reported to listeners
    bool seen = false;
    bool ended = false;             // its process has ended
    std::vector<CallFrame> frames;  // outermost first
    std::array<Time, kStates> spent{};
    // Messages of the program; messages within collective calls are counted separately.
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t collectives = 0;
    Bytes bytes_sent = 0;
    Bytes bytes_received = 0;
    std::uint64_t inner_sends = 0;  // within collective calls
    Bytes inner_bytes = 0;
    // The last outermost call that the task has left, and when.
    CallFrame last_call;
    Time last_left{0};
    // The last outermost call that awaited a message and left it there, as MPI_Probe does, and when
    // the task left it. The receive that takes a message it may have waited for removes it.
    std::optional<CallFrame> probe;
    Time probe_left{0};
    std::vector<OpenSend> open_sends;  // earliest first, at most kMostOpenSends
    bool notes_ends = false;           // the trace has ends of nonblocking sends
    // When the task left a polling call. If another polling call follows soon, it was polling all
    // the time; otherwise it has computed since.
    std::optional<Time> polled;
    static constexpr std::size_t kMostOpenSends = 4096;

    // Returns the outermost call; null outside calls.
    const CallFrame* call(const Definitions& definitions) const;
    // Returns `spent` up to a moment that is not before `since`.
    std::array<Time, kStates> spent_until(Time now) const;
};

// The values that mp_marker and mpc_progress have set.
struct Marks {
    std::array<std::uint8_t, kMaxLights> lights{};  // colour + 1; 0: never set
    std::uint64_t texts = 0;
    std::string text;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

// The subject of a system sum: a task, or -1 - node.
using Subject = std::int32_t;

struct JobState {
    Time now{0};
    std::vector<TaskTimeline> tasks;
    std::map<TaskId, Marks> marks;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> counters;  // by stream and counter
    std::map<std::pair<Subject, std::uint8_t>, std::uint64_t> system;    // by subject and Metric
    std::uint64_t events = 0;
    std::uint64_t messages = 0;        // of the program, with both ends seen
    std::uint64_t inner_messages = 0;  // likewise, within collective calls
    std::uint64_t backwards = 0;       // received before they were sent
    std::uint64_t lost = 0;            // records, if the trace reports them
};

}  // namespace poe::trace
