// A pass over a whole trace: replays every event, and reports what is in progress at the end.
#pragma once

#include <functional>
#include <vector>

#include "tracer/analysis/replay.hpp"
#include "tracer/read/event_merge.hpp"

namespace poe::trace {

// `merge` must be at its beginning. `progress` is called regularly with the fraction done.
void replay_whole(const TraceSource& source, EventMerge& merge, Replay& replay,
                  const std::function<void(double)>& progress);

// Passes every report on to several listeners, which must outlive this object.
class Listeners : public Listener {
  public:
    explicit Listeners(std::vector<Listener*> all) : all_(std::move(all)) {}
    void on_state(TaskId task, State state, Time from, Time to) override {
        for (Listener* each : all_) each->on_state(task, state, from, to);
    }
    void on_computing(TaskId task, std::uint32_t region, Time from, Time to) override {
        for (Listener* each : all_) each->on_computing(task, region, from, to);
    }
    void on_interval(const Interval& interval) override {
        for (Listener* each : all_) each->on_interval(interval);
    }
    void on_round(TaskId task, std::size_t depth, const CallFrame& frame, Time to) override {
        for (Listener* each : all_) each->on_round(task, depth, frame, to);
    }
    void on_open(TaskId task, std::size_t depth, const CallFrame& frame, Time to) override {
        for (Listener* each : all_) each->on_open(task, depth, frame, to);
    }
    void on_message(const Message& message) override {
        for (Listener* each : all_) each->on_message(message);
    }
    void on_wait(const Wait& wait) override {
        for (Listener* each : all_) each->on_wait(wait);
    }
    void on_event(const Event& event, TaskId task) override {
        for (Listener* each : all_) each->on_event(event, task);
    }

  private:
    std::vector<Listener*> all_;
};

}  // namespace poe::trace
