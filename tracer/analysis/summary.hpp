// Summary: what people ask first of a trace, as numbers: where the time went, who waited for whom,
// which messages there were. Made in one walk through the whole trace.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracer/analysis/replay.hpp"
#include "tracer/analysis/symbols.hpp"

namespace poe::trace {

struct CallSum {
    std::string name;
    State state = State::kComputing;
    bool of_user = false;
    std::uint64_t calls = 0;
    Time time{0};  // without what was within
    Time longest{0};
};

// A pair of tasks, or a reason, with what it comes to.
struct PairSum {
    TaskId from = 0;
    TaskId to = 0;
    std::uint64_t count = 0;
    Bytes bytes = 0;
};

struct WaitSum {
    Wait::Why why = Wait::Why::kLateSender;
    TaskId task = 0;  // -1: all tasks
    TaskId whom = 0;  // -1: anybody
    std::uint64_t count = 0;
    Time time{0};
};

struct Stall {
    Wait::Why why = Wait::Why::kLateSender;
    TaskId task = 0;
    TaskId whom = 0;
    Time from{0};
    Time to{0};
    std::string call;
    std::string line;  // of the source; empty: not known
};

// A call that the trace ends in.
struct Unfinished {
    TaskId task = 0;
    std::string call;
    TaskId peer = -1;  // -1: none
    Time since{0};
    std::string line;
};

// How long tasks have computed in a user's region, without calls and regions within.
struct RegionSum {
    std::string name;
    Time time{0};
};

struct TaskSum {
    std::array<Time, kStates> spent{};
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t collectives = 0;
    Bytes bytes_sent = 0;
    Bytes bytes_received = 0;
};

// How far the times of a node may be off, as seen from the home node.
struct ClockSum {
    std::string node;
    std::optional<Time> within;  // empty: nobody knows
};

struct Summary {
    static constexpr std::size_t kTop = 10;

    TraceFacts facts;
    Time begin{0};
    Time end{0};
    std::vector<TaskSum> tasks;
    std::vector<CallSum> calls;      // the longest first
    std::vector<RegionSum> regions;  // likewise
    std::vector<PairSum> pairs;      // by bytes, at most kTop
    std::size_t all_pairs = 0;
    std::vector<WaitSum> waits;  // one for each reason
    std::vector<WaitSum> blame;  // task and whom, the longest first, at most kTop
    std::vector<Stall> stalls;   // the longest first, at most kTop
    std::vector<Unfinished> unfinished;
    std::uint64_t records = 0;
    std::uint64_t messages = 0;        // of the program
    std::uint64_t inner_messages = 0;  // that collective calls are made of
    Bytes inner_bytes = 0;
    std::uint64_t unmatched = 0;  // ends of messages whose other end is not there
    std::uint64_t backwards = 0;
    std::uint64_t holes = 0;
    std::uint64_t implausible = 0;  // records that cannot be as they are
    std::uint64_t lost = 0;         // records that found no room, or that the file ends before
    std::vector<ClockSum> clocks;   // the most doubtful first; without the home node
    std::vector<std::string> problems;

    // Over all tasks.
    std::array<Time, kStates> spent() const;
    // The longest computing of a task by the average, less one; 0: all alike.
    double imbalance() const;
    TaskId busiest() const;
};

// Walks through the trace; `progress` is told the share that is done now and then.
Summary summarize(const TraceSource& source, Symbols& symbols,
                  const std::function<void(double)>& progress);

// For people, at most so many columns wide where names allow it.
std::string summary_text(const Summary& summary);
std::string summary_json(const Summary& summary);
// What is different in the second one, for people.
std::string diff_text(const Summary& before, const Summary& after);

}  // namespace poe::trace
