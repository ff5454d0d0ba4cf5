// JobState: all that is known of a job at one moment of its trace: what each task is in, how much
// of what there has been so far. Plain data.
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
struct Frame {
    std::uint32_t region = 0;  // of Definitions
    std::uint32_t site = Definitions::kNoSite;
    std::uint32_t peer = kNobody;
    std::uint32_t type = 0;
    Time since{0};
    Time inner{0};                 // spent in frames within this one, so far
    Time waited_until{0};          // up to here a wait in it has been told; an outermost call only
    Time received{0};              // when a message has arrived in it last; an outermost call only
    std::uint64_t collective = 0;  // which call of its group; 0: none
};

// A send of a task that has not ended, as far as the trace says.
struct OpenSend {
    TaskId to = 0;
    std::uint32_t type = 0;
    std::uint16_t number = 0;
    bool received = false;
    bool ends_later = false;  // a call after the one that started it ends it
    Time sent{0};
    Time call_since{0};  // of the call that started it
    Time came{0};        // once received: when the receiver entered its call
};

struct TaskState {
    State state = State::kOff;
    Time since{0};  // in this state, and `spent` counts up to here
    // The user's region that the task computes in, the innermost one; 0: in none, or in a call.
    std::uint32_t region = 0;
    Time region_since{0};  // listeners know of the computing before
    bool seen = false;
    bool ended = false;         // its process has
    std::vector<Frame> frames;  // the outermost first
    std::array<Time, kStates> spent{};
    // Messages of the program; those that collective calls are made of are counted apart.
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t collectives = 0;
    Bytes bytes_sent = 0;
    Bytes bytes_received = 0;
    std::uint64_t inner_sends = 0;  // within collective calls
    Bytes inner_bytes = 0;
    // The last outermost call that the task has left, and when.
    Frame last_call;
    Time last_left{0};
    std::vector<OpenSend> open_sends;  // the earliest first, at most kMostOpenSends
    bool notes_ends = false;           // the trace says when non-blocking sends end
    // When the task left a call that polls. It is polling still if the next such call follows soon,
    // and has computed since then otherwise.
    std::optional<Time> polled;
    static constexpr std::size_t kMostOpenSends = 4096;

    // The outermost call; null outside of calls.
    const Frame* call(const Definitions& definitions) const;
    // `spent` up to a moment not before `since`.
    std::array<Time, kStates> spent_until(Time now) const;
};

// What mp_marker and mpc_progress have set.
struct Marks {
    std::array<std::uint8_t, kMaxLights> lights{};  // colour + 1; 0: never set
    std::uint64_t texts = 0;
    std::string text;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

// Whom a system sum is about: a task, or -1 - node.
using Subject = std::int32_t;

struct JobState {
    Time now{0};
    std::vector<TaskState> tasks;
    std::map<TaskId, Marks> marks;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> counters;  // stream, counter
    std::map<std::pair<Subject, std::uint8_t>, std::uint64_t> system;    // subject, Metric
    std::uint64_t events = 0;
    std::uint64_t messages = 0;        // of the program, whose both ends have been seen
    std::uint64_t inner_messages = 0;  // the same of those within collective calls
    std::uint64_t backwards = 0;       // received before they were sent
    std::uint64_t lost = 0;            // records, as far as the trace says so
};

}  // namespace poe::trace
