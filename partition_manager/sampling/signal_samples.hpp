// SignalSamples: the stacks that the tasks of a node copy themselves, in the handler of a timer
// signal. See sample_slots.h for the shared memory, and docs/timer-signals.md for when this is
// done.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "partition_manager/sampling/sample_slots.h"
#include "partition_manager/sampling/sample_source.hpp"

namespace poe::pm {

// For one thread.
class SignalSamples : public SampleSource {
  public:
    // `path`: a file that pmd has made for the slots. Throws Error.
    explicit SignalSamples(const std::string& path);
    ~SignalSamples() override;
    SignalSamples(const SignalSamples&) = delete;
    SignalSamples& operator=(const SignalSamples&) = delete;

    trace::SampleOrigin origin() const override { return trace::SampleOrigin::kTimerSignals; }
    // A task samples itself.
    std::string add(TaskId task, pid_t process) override {
        if (on_added) on_added(task, process);
        return {};
    }
    void read(std::vector<PerfEvent>& events) override;
    void wait(int other, int milliseconds) override;
    void read_counters(std::vector<CounterValue>&) const override {}
    TaskId task_of(std::uint64_t event) const override { return static_cast<TaskId>(event); }
    std::uint64_t period() const override { return slots_->period; }
    bool sees_kernel() const override {
        return true;
    }  // a stack in the kernel ends at the system call
    bool has_hardware_counters() const override { return false; }
    std::uint64_t spent_in_tasks() const override;

  private:
    // A slot whose thread has died while it filled it is free again.
    void reclaim(PoeSampleSlot& slot, std::uint64_t state, std::uint64_t now);

    PoeSampleSlots* slots_ = nullptr;
    std::size_t bytes_ = 0;
    std::uint64_t told_lost_ = 0;
    // A copy of a stack may take longer than a round. The sample then gets the time of the previous
    // round, so that samples stay in order of time.
    std::uint64_t earliest_ = 0;
    std::map<const PoeSampleSlot*, std::pair<std::uint64_t, std::uint64_t>>
        filling_;  // state, since when
};

// Makes a PerfEvent of what a task has stored. Pure.
PerfEvent event_from(const PoeSampleSlot& slot);

}  // namespace poe::pm
