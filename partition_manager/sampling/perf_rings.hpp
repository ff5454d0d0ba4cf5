// PerfRings: the perf events of the tasks of a node. The kernel takes a sample of a thread each
// time that it has used another period of processor time, and writes it to the ring buffer of the
// processor on which it runs. Threads and processes that a task makes later are sampled, too.
//
// A thread that is made while the events of its maker are being opened has inherited some, all or
// none of them. When the events of all listed threads are open, threads are listed again, and a
// thread that is new in the list gets events of its own. On each processor, the first sample of
// such a thread shows whether it has inherited an event: an inherited event has counted since the
// thread began, so its sample comes first. The thread's own event on this processor is then closed,
// and its samples are ignored.
//
// All events of a processor share one ring, which belongs to an event of this process that counts
// nothing. A ring is as large as the kernel allows an ordinary user, so it must be emptied
// regularly (kCopiedStack).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/sampling/sample_source.hpp"

namespace poe::pm {

// For one thread.
class PerfRings : public SampleSource {
  public:
    // `rate`: samples per second of a thread's processor time. Throws Error with the reason and the
    // remedy if the kernel does not allow it. `software`: count software events, too. Each counted
    // event makes each switch between threads slower.
    explicit PerfRings(int rate, bool software = false);
    ~PerfRings() override;
    PerfRings(const PerfRings&) = delete;
    PerfRings& operator=(const PerfRings&) = delete;

    trace::SampleOrigin origin() const override { return trace::SampleOrigin::kPerfEvents; }
    std::string add(TaskId task, pid_t process) override;
    void read(std::vector<PerfEvent>& events) override;
    void wait(int other, int milliseconds) override;
    void read_counters(std::vector<CounterValue>& values) const override;
    TaskId task_of(std::uint64_t event) const override;
    std::uint64_t period() const override { return period_; }
    bool sees_kernel() const override { return sees_kernel_; }
    bool has_hardware_counters() const override { return has_hardware_counters_; }
    std::uint64_t spent_in_tasks() const override { return 0; }

  private:
    struct Ring;
    struct Counter {
        TaskId task = 0;
        trace::Metric metric{};
        UniqueFd file;
    };

    // An event that a thread got although it may have inherited one.
    struct Doubt {
        std::uint64_t event = 0;
        pid_t thread = 0;
        std::size_t ring = 0;
        TaskId task = 0;
        bool inherited = false;  // this event counts nothing
        UniqueFd file;
    };
    struct Known {
        std::uint64_t event = 0;
        TaskId task = 0;
        std::size_t ring = 0;
    };

    void open_rings();
    int add_thread(TaskId task, pid_t thread, bool doubtful);
    void add_counters(TaskId task, pid_t thread);
    const Known* find(std::uint64_t event) const;
    bool counts(const PerfEvent& event);

    std::uint64_t period_;
    bool sees_kernel_ = true;
    bool has_hardware_counters_ = false;
    bool counts_software_;
    std::int64_t clock_offset_;  // ns
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<UniqueFd> files_;
    std::vector<Known> known_;   // by event
    std::vector<Doubt> doubts_;  // of few threads
    std::set<pid_t> uncounted_;  // threads with doubts that have no counters
    std::vector<Counter> counters_;
};

}  // namespace poe::pm
