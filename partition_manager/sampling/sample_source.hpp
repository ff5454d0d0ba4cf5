// SampleSource: the origin of the call stacks of running threads. There are two: perf events of the
// kernel, and timer signals where the kernel allows no perf events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/sampling/perf_event.hpp"
#include "tracer/probe/format.hpp"
#include "tracer/probe/sample_origin.hpp"

namespace poe::pm {

struct CounterValue {
    TaskId task = 0;
    trace::Metric metric{};
    std::uint64_t value = 0;  // since the task was added
};

// For one thread.
class SampleSource {
  public:
    virtual ~SampleSource() = default;

    virtual trace::SampleOrigin origin() const = 0;
    // Samples the process, its present threads and its children from now on, and calls on_added for
    // the process and for each child that it has. Returns what is not possible; empty if everything
    // is.
    virtual std::string add(TaskId task, pid_t process) = 0;
    // Called, by add and by read, for a process that is sampled from now on and whose earlier
    // events may be unknown. It may be called again for the same process.
    std::function<void(TaskId, pid_t)> on_added;
    // Appends the events since the last call in order of time. An event that happens during a call
    // may be returned by the next call, although later ones were returned by this one.
    virtual void read(std::vector<PerfEvent>& events) = 0;
    // Blocks until there is much to read, `other` can be read, or the time is over.
    virtual void wait(int other, int milliseconds) = 0;
    virtual void read_counters(std::vector<CounterValue>& values) const = 0;

    // The task that an event belongs to; -1 if unknown.
    virtual TaskId task_of(std::uint64_t event) const = 0;
    virtual std::uint64_t period()
        const = 0;  // ns of a thread's processor time between two samples
    virtual bool sees_kernel() const = 0;
    virtual bool has_hardware_counters() const = 0;
    // What the tasks themselves have spent on their samples so far, ns.
    virtual std::uint64_t spent_in_tasks() const = 0;
};

}  // namespace poe::pm
