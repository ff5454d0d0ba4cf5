// HistoryMaker: fills a History from what a replay reports. Separate from history.hpp, so that the
// analyses do not depend on traces.
#pragma once

#include <unordered_map>

#include "tracer/analysis/replay.hpp"
#include "tracer/diagnosis/history.hpp"
#include "tracer/diagnosis/operation_numbers.hpp"

namespace poe::trace {

// For one pass over a trace. The replay and its source must outlive this object.
class HistoryMaker : public Listener {
  public:
    // A History has about as many bytes as the trace. If it would have more than `most_bytes`, it
    // is given up.
    static constexpr std::size_t kMostBytes = std::size_t{4} << 30;
    // The limit where LongVectors have room on a disk. A vector that grows, and what the analyses
    // add, need three times as much. At least kMostBytes.
    static std::size_t most_bytes();

    HistoryMaker(const TraceSource& source, const Replay& replay,
                 std::size_t most_bytes = kMostBytes);

    void on_event(const Event& event, TaskId task) override;
    void on_state(TaskId task, State state, Time from, Time to) override;
    void on_computing(TaskId task, std::uint32_t region, Time from, Time to) override;
    void on_interval(const Interval& interval) override;
    void on_message(const Message& message) override;
    void on_wait(const Wait& wait) override;

    // Returns the history, up to the moment of the replay. Call it once, after the replay has
    // reported everything, including what tasks computed last.
    History take();

  private:
    // The numbering of the operations of a group, as one task sees it.
    struct Calls {
        std::uint16_t last = 0;
        std::uint32_t laps = 0;  // of the number, which is counted modulo 65536
        bool any = false;
    };
    const TaskTimeline& timeline_of(TaskId task) const;
    Time replay_time(const Event& event) const;
    void add(TaskId task, Activity activity, Time to);
    void add_open_call(TaskId task);
    void note_collective(const Event& event, TaskId task);
    std::uint32_t operation_of(std::uint64_t key);
    void count(std::size_t bytes);
    void drop_if_too_long();
    bool is_left_out(TaskId task) const;

    const TraceSource& source_;
    const Replay& replay_;
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    History history_;
    PerTask<Time> covered_;          // by task: the end of the last activity
    PerTask<std::uint32_t> phases_;  // by task: the outermost user's region before this event
    PerTask<Time> last_;             // by task: its last event
    Event present_;                  // the event that is being applied
    std::unordered_map<std::uint64_t, Calls> calls_;  // by task and group
    OperationNumbers operations_;                     // by group, lap and number
    // By task: the members that have not left yet, latest last.
    PerTask<std::vector<std::uint32_t>> inside_;
    // By task: the member that leaves with the present call.
    PerTask<std::vector<std::uint32_t>> leaving_;
};

}  // namespace poe::trace
