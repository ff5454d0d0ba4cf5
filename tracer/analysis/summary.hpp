// Summary: the most frequently needed numbers of a trace: where the time was spent, which task
// waited for which, which messages were sent. Computed in one pass over the whole trace.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tracer/analysis/replay.hpp"
#include "tracer/analysis/symbols.hpp"
#include "tracer/read/event_merge.hpp"

namespace poe::trace {

struct CallSum {
    std::string name;
    State state = State::kComputing;
    bool of_user = false;
    std::uint64_t calls = 0;
    Time time{0};  // without calls and regions inside
    Time longest{0};
    Bytes bytes = 0;  // CallFrame::bytes
};

// How calls of a collective operation were carried out: by a path, or by an algorithm.
struct PathSum {
    std::string call;
    std::string path;
    std::uint32_t rounds = 0;  // the most that a call had
    std::uint64_t calls = 0;
    Time time{0};
    Bytes bytes = 0;
};

// A pair of tasks, or a reason, with its totals.
struct PairSum {
    TaskId from = 0;
    TaskId to = 0;
    std::uint64_t count = 0;
    Bytes bytes = 0;
};

struct WaitSum {
    Wait::Why why = Wait::Why::kLateSender;
    TaskId task = 0;  // -1: all tasks
    TaskId whom = 0;  // -1: any task
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
    std::string line;  // of the source; empty: unknown
};

// A call that was in progress at the end of the trace.
struct Unfinished {
    TaskId task = 0;
    std::string call;
    TaskId peer = -1;  // -1: none
    Time since{0};
    std::string line;
};

// The time that tasks have computed in a user's region, without calls and regions inside it.
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

// The largest error of a node's times relative to the home node.
struct ClockSum {
    std::string node;
    std::optional<Time> within;  // empty: unknown
};

struct Summary {
    static constexpr std::size_t kTop = 10;

    TraceFacts facts;
    Time begin{0};
    Time end{0};
    std::vector<TaskSum> tasks;
    std::vector<CallSum> calls;      // longest first
    std::vector<PathSum> paths;      // likewise
    std::vector<RegionSum> regions;  // likewise
    std::vector<PairSum> pairs;      // by bytes, at most kTop
    std::size_t all_pairs = 0;
    std::vector<WaitSum> waits;  // one per reason
    std::vector<WaitSum> blame;  // by task and whom, longest first
    std::vector<Stall> stalls;   // longest first, at most kTop
    std::vector<Unfinished> unfinished;
    std::uint64_t records = 0;
    std::uint64_t messages = 0;        // of the program
    std::uint64_t inner_messages = 0;  // within collective calls
    Bytes inner_bytes = 0;
    std::uint64_t unmatched = 0;  // ends of messages whose other end is missing
    std::uint64_t backwards = 0;
    std::uint64_t holes = 0;
    std::uint64_t implausible = 0;  // records that cannot be valid
    std::uint64_t lost = 0;         // records without room, or missing at the end of the file
    std::vector<ClockSum> clocks;   // most uncertain first; without the home node
    std::vector<std::string> problems;

    // The sums over all tasks.
    std::array<Time, kStates> spent() const;
    // The longest computing time of a task divided by the average, minus one; 0: balanced.
    double imbalance() const;
    TaskId busiest() const;
};

// Sums up what a replay reports to listener(). Source and definitions must outlive this object.
class SummaryMaker {
  public:
    SummaryMaker(const TraceSource& source, const Definitions& definitions);
    ~SummaryMaker();
    SummaryMaker(const SummaryMaker&) = delete;
    SummaryMaker& operator=(const SummaryMaker&) = delete;

    Listener& listener();
    // Returns the summary, at the end of the pass. Call it once.
    Summary take(const Replay& replay, const EventMerge& merge, Symbols& symbols);

  private:
    class Sums;
    const TraceSource& source_;
    const Definitions& definitions_;
    std::unique_ptr<Sums> sums_;
};

// Makes a pass over the trace; `progress` is called regularly with the fraction done.
Summary summarize(const TraceSource& source, Symbols& symbols,
                  const std::function<void(double)>& progress);

// Formats a summary for people, and as JSON.
// `verdict` and `more`: a line and sections of the text that come from other analyses.
std::string summary_text(const Summary& summary, const std::string& verdict = "",
                         const std::string& more = "");
std::string summary_json(const Summary& summary);
std::string summary_json_with(const Summary& summary, const nlohmann::json& more);
// Formats the differences of the second summary, for people.
std::string diff_text(const Summary& before, const Summary& after);

}  // namespace poe::trace
