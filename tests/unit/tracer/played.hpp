// A trace that has been replayed from its beginning to its end, with what the replay has told.
#pragma once

#include <vector>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/replay.hpp"
#include "tracer/read/event_merge.hpp"

namespace poe::trace::test {

struct Notes : Listener {
    std::vector<Message> messages;
    std::vector<Wait> waits;
    std::vector<Interval> intervals;
    void on_message(const Message& message) override { messages.push_back(message); }
    void on_wait(const Wait& wait) override { waits.push_back(wait); }
    void on_interval(const Interval& interval) override { intervals.push_back(interval); }
};

struct Played {
    explicit Played(TraceSource from) : source(std::move(from)), replay(source, definitions) {
        replay.tell(&notes);
        EventMerge merge(source);
        for (Event event; merge.next(event);) replay.apply(event);
        replay.settle(source.end());
    }
    TraceSource source;
    Definitions definitions;
    Replay replay;
    Notes notes;
};

inline Time spent(const Played& played, std::size_t task, State state) {
    return played.replay.state().tasks[task].spent[static_cast<std::size_t>(state)];
}

// All waits of that kind: of one task for another, or (-1) of any for any.
inline Time waited(const Played& played, Wait::Why why, TaskId task = -1, TaskId whom = -1) {
    Time sum{0};
    for (const Wait& wait : played.notes.waits)
        if (wait.why == why && (task < 0 || wait.task == task) && (whom < 0 || wait.whom == whom))
            sum += wait.to - wait.from;
    return sum;
}

}  // namespace poe::trace::test
