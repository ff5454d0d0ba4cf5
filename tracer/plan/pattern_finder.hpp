// Finds in a trace which communications of a program have a pattern that does not change:
// collective calls, and messages that are really a collective call. The lengths of irregular calls
// are those of the messages that the members sent inside of the call, so the trace needs no records
// for them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/schedule/plan_file.hpp"
#include "collectives/selection/cost_model.hpp"
#include "tracer/analysis/replay.hpp"
#include "tracer/analysis/symbols.hpp"

namespace poe::trace {

// One call or loop of messages, as it is written to the plan.
struct FoundPattern {
    bool planned = false;           // false: the line is a comment
    collectives::PlannedCall call;  // of a planned one
    std::string words;              // of a comment: what it is
    std::string why;                // what was decided, and the reason
};

struct FoundPlan {
    TraceFacts facts;
    std::vector<FoundPattern> patterns;  // by group and place; messages come last
    bool has_collectives = false;        // the trace has records of collective calls
};

// Makes a pass over the trace; `progress` is called regularly with the fraction done. `tuning`: the
// costs of messages, by which blocks are combined or not.
FoundPlan find_plan(const TraceSource& source, Symbols& symbols, const collectives::Tuning& tuning,
                    const std::function<void(double)>& progress);

// The text of the plan file. `from`: the name of the trace. `costs`: where the costs of messages
// come from, as "built-in costs of messages".
std::string plan_text(const FoundPlan& plan, const std::string& from, const std::string& costs);

// The messages that a task sent from one place, in their order.
struct SentMessage {
    TaskId to = 0;
    Bytes bytes = 0;
    auto operator<=>(const SentMessage&) const = default;
};
// What each task sent from one place of the program: by task.
using SentFromPlace = std::map<TaskId, std::vector<SentMessage>>;

// A loop of messages that repeats the same sends in each round.
struct MessageRounds {
    std::uint64_t rounds = 0;
    std::map<std::pair<TaskId, TaskId>, Bytes> lengths;  // by source and destination
};
// Finds out whether every task sends the same messages, one to each of its destinations, in each of
// two rounds or more. `rounds` of the result is 0 if it does not. Pure.
MessageRounds rounds_of(const SentFromPlace& sent);
// Names the collective call that such rounds are, as in "MPI_Alltoallv of tasks 0-3". Pure.
std::string collective_of(const MessageRounds& rounds);

}  // namespace poe::trace
