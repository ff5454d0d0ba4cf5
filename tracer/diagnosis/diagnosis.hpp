// Diagnosis: wait states, root causes, critical path and efficiencies of a trace, with the names of
// regions, source lines and communicators. What the summary and the views show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracer/analysis/summary.hpp"
#include "tracer/diagnosis/critical_path.hpp"
#include "tracer/diagnosis/efficiency.hpp"
#include "tracer/diagnosis/root_causes.hpp"
#include "tracer/diagnosis/wait_sums.hpp"
#include "tracer/profile/profile_sums.hpp"

namespace poe::trace {

// A sum of waits for one task, call site, communicator or phase.
struct NamedWaits {
    std::string name;
    TaskId task = -1;  // of a sum by task
    std::string line;  // of a sum by call site; empty: unknown
    WaitTotal sum;
};

// Where a task waited, in words.
struct NamedPlace {
    TaskId task = 0;
    std::string call;
    std::string line;  // empty: unknown
    std::string communicator;
    std::string phase;  // empty: none
};

struct WaitState {
    WaitPattern pattern = WaitPattern::kLateSender;
    WaitTotal all;
    NamedPlace most;  // the place with the largest part of it
    // Each by time, longest first.
    std::vector<NamedWaits> by_task;
    std::vector<NamedWaits> by_site;
    std::vector<NamedWaits> by_communicator;
    std::vector<NamedWaits> by_phase;
};

// An activity in words: "computing in solve before mpc_sync", at that source line.
struct NamedActivity {
    TaskId task = 0;
    State state = State::kOff;
    std::string what;
    std::string region;  // the call, or the user's region; empty: none
    std::string line;    // empty: unknown
    std::string phase;   // empty: none
    // The call that ends computing, which `line` is the place of; empty: unknown, or no computing.
    std::string next_call;
};

struct NamedCause {
    NamedActivity activity;
    Cause cause;
};

struct NamedShare {
    NamedActivity activity;
    Time time{0};
};

struct NamedImbalance {
    std::string what;
    PathImbalance imbalance;
};

struct NamedEfficiency {
    std::string phase;  // empty: the job, or the time in no region
    Efficiency efficiency;
};

struct Diagnosis {
    bool too_long = false;  // the trace has more calls than the limit allows; the rest is empty
    Time traced{0};         // the time of all tasks
    std::vector<WaitState> waits;  // those that occurred, longest first
    std::vector<NamedCause> causes;
    // The length of the waits for which kMostLookedAt ended the search for causes.
    Time causes_cut{0};
    LongVector<PathPart> path;
    PerTask<Time> path_by_task;
    std::array<Time, kStates> path_by_state{};
    std::vector<NamedShare> path_shares;
    std::vector<NamedImbalance> imbalances;
    NamedEfficiency job;
    std::vector<NamedEfficiency> phases;

    Time waited() const;       // the sum of all wait states
    Time path_length() const;  // the time from the first to the last event
};

// Names what the analyses of a history find.
Diagnosis diagnose(const History& history, const Definitions& definitions, Symbols& symbols);

struct Analysis {
    Summary summary;
    Diagnosis diagnosis;
    StackProfile profile;
    ProfileSums profile_sums;
};

// Makes one pass over the trace for all; `progress` is called regularly with the fraction done.
// `most_bytes` limits the history; without it the limit is HistoryMaker::most_bytes().
Analysis analyse(const TraceSource& source, Symbols& symbols,
                 const std::function<void(double)>& progress,
                 std::optional<std::size_t> most_bytes = std::nullopt);

// Return "task 2 computing in solve before main at heat.c:120", and "tasks 0, 1, 3 and others".
std::string activity_words(const NamedActivity& activity);
std::string victims_words(const Cause& cause);

// What vt -summary writes, for people, and as JSON.
std::string analysis_text(const Analysis& analysis);
std::string analysis_json(const Analysis& analysis);

}  // namespace poe::trace
