// PerfRings: the perf events of the tasks of a node. The kernel takes a sample of a thread each time that it has used
// another period of processor time, and writes it to the ring buffer of the processor on which it runs. Threads and
// processes that a task makes later are sampled, too.
//
// All events of a processor share one ring, which belongs to an event of this process that counts nothing. A ring is
// as large as the kernel allows an ordinary user, so it must be emptied regularly (kCopiedStack).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/sampling/perf_event.hpp"
#include "tracer/probe/format.hpp"

namespace poe::pm {

struct CounterValue {
    TaskId task = 0;
    trace::Metric metric{};
    std::uint64_t value = 0;  // since the task was added
};

// For one thread.
class PerfRings {
  public:
    // `rate`: samples per second of a thread's processor time. Throws Error with the reason and the remedy if the
    // kernel does not allow it.
    // `software`: count software events, too. Each counted event makes each switch between threads slower.
    explicit PerfRings(int rate, bool software = false);
    ~PerfRings();
    PerfRings(const PerfRings&) = delete;
    PerfRings& operator=(const PerfRings&) = delete;

    // Samples the process, its present threads and its children. Returns what could not be done; empty if all could.
    std::string add(TaskId task, pid_t process);
    // Empties the rings: appends their events in order of time. Later calls return later events, except for those
    // that are written while this function runs.
    void read(std::vector<PerfEvent>& events);
    // Blocks until a ring is half full, `other` can be read, or the time is over.
    void wait(int other, int milliseconds);
    void read_counters(std::vector<CounterValue>& values) const;

    // The task that an event belongs to; -1 if unknown.
    TaskId task_of(std::uint64_t event) const;
    std::uint64_t period() const { return period_; }  // ns
    bool sees_kernel() const { return sees_kernel_; }
    bool has_hardware_counters() const { return has_hardware_counters_; }

  private:
    struct Ring;
    struct Counter {
        TaskId task = 0;
        trace::Metric metric{};
        UniqueFd file;
    };

    void open_rings();
    int add_thread(TaskId task, pid_t thread);
    void add_counters(TaskId task, pid_t thread);

    std::uint64_t period_;
    bool sees_kernel_ = true;
    bool has_hardware_counters_ = false;
    bool counts_software_;
    std::int64_t clock_offset_;  // ns
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<UniqueFd> files_;
    std::vector<std::pair<std::uint64_t, TaskId>> tasks_;  // by event
    std::vector<Counter> counters_;
};

}  // namespace poe::pm
