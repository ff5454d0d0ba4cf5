// Histories of traces that tests have made, and what the analyses find in them.
#pragma once

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/whole_pass.hpp"
#include "tracer/diagnosis/critical_path.hpp"
#include "tracer/diagnosis/efficiency.hpp"
#include "tracer/diagnosis/history_maker.hpp"
#include "tracer/diagnosis/root_causes.hpp"
#include "tracer/diagnosis/wait_sums.hpp"

namespace poe::trace::test {

inline constexpr auto kReduceCall = static_cast<std::uint32_t>(Call::kReduce);
inline constexpr auto kCombineCall = static_cast<std::uint32_t>(Call::kCombine);
inline constexpr auto kPrefixCall = static_cast<std::uint32_t>(Call::kPrefix);

struct Told {
    Definitions definitions;
    History history;
};

// The history of a trace of these streams.
inline Told told_by(const std::vector<StreamWriter>& streams,
                    std::size_t most_bytes = HistoryMaker::kMostBytes) {
    const TraceSource source = TraceSource::from_bytes(gathered(streams), "diagnosis");
    Told told;
    Replay replay(source, told.definitions);
    HistoryMaker maker(source, replay, most_bytes);
    replay.tell(&maker);
    EventMerge merge(source);
    replay_whole(source, merge, replay, [](double) {});
    told.history = maker.take();
    return told;
}

inline std::vector<StreamWriter> task_streams(TaskId tasks) {
    std::vector<StreamWriter> streams;
    for (TaskId task = 0; task < tasks; ++task) {
        streams.push_back(task_stream(task, tasks));
        // Recording begins at 0.
        streams.back().put(0, {.kind = Kind::kTracing, .detail = 1});
    }
    return streams;
}

// A collective call of the group 0, as kBcastCall.
inline void collective_call(StreamWriter& out, std::uint32_t call, std::uint64_t from,
                            std::uint64_t to, std::uint16_t number, std::uint32_t root = kNobody) {
    out.enter(us(from), call, kNobody, 0, 1);
    out.collective(us(from), number, root, 0, 8);
    out.leave(us(to), call);
}

inline Time waited(const History& history, WaitPattern pattern, TaskId task = -1) {
    Time sum{0};
    for (const TaskWait& wait : history.waits)
        if (wait.pattern == pattern && (task < 0 || wait.task == task)) sum += wait.length();
    return sum;
}

// What others have waited because of a task's computing, in us, rounded.
inline long computing_cost(const std::vector<Cause>& causes, TaskId task) {
    double sum = 0;
    for (const Cause& cause : causes)
        if (cause.task == task && cause.state == State::kComputing) sum += cause.cost();
    return static_cast<long>(sum / 1000 + 0.5);
}

}  // namespace poe::trace::test
