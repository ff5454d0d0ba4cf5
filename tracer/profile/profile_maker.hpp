// ProfileMaker: makes the profile of a trace from what a replay reports.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>

#include "tracer/analysis/replay.hpp"
#include "tracer/profile/profile.hpp"

namespace poe::trace {

// Register it as a listener of `replay`. Source and replay must outlive it.
class ProfileMaker : public Listener {
  public:
    ProfileMaker(const TraceSource& source, const Replay& replay);

    void on_event(const Event& event, TaskId task) override;
    void on_interval(const Interval& interval) override;
    void on_open(TaskId task, std::size_t depth, const CallFrame& frame, Time to) override;

    // Returns the profile at the end of the pass. Call it once.
    StackProfile take();

  private:
    // The last reading of a counter, and the times that the task had spent in each state by then.
    struct Reading {
        std::uint64_t value = 0;
        std::array<Time, kStates> spent{};
    };

    void define_path(const Event& event);
    void add_sample(const Event& event);
    void add_fact(const Record& record);
    void add_reading(const Event& event);
    void add_call(const CallFrame& frame, Time to);

    const TraceSource& source_;
    const Replay& replay_;
    StackProfile profile_;
    std::unordered_map<std::uint64_t, std::uint32_t> path_ids_;      // by pair(stream, id)
    std::unordered_map<std::uint64_t, std::uint32_t> path_numbers_;  // by pair(caller, site)
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> calls_;  // by region and site
    std::map<std::pair<std::uint32_t, Metric>, Reading> readings_;   // by task
};

}  // namespace poe::trace
