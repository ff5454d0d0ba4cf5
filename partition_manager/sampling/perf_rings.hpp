// PerfRings: the perf events of the tasks of a node. The kernel takes a sample of a thread each
// time that it has used another period of processor time, and writes it to the ring buffer of the
// processor on which it runs. Threads and processes that a task makes later are sampled, too.
//
// A thread that is made while the events of its maker are being opened has inherited some, all or
// none of them. Two rules find such threads, and they get events of their own:
// - When the events of all listed threads are open, threads are listed again.
// - The kernel copies the events of the maker into a new process before it copies the memory, and
//   lists the process only then. If the maker's events are opened meanwhile, the process has
//   inherited none and is in no list, but the kernel's record of it comes through the events of its
//   maker. Therefore the first thread or process that a thread makes after its events were opened
//   gets events of its own, unless there are records of it already, which only inherited events can
//   have written.
// A thread may then have two events on a processor, its own one and an inherited one. The kernel
// writes each record once for each of them, so the records of a thread show this. Of the two, the
// one with the higher number was opened later; it is closed, and its records are ignored.
//
// All events of a processor share one ring, which belongs to an event of this process that counts
// nothing. A ring is as large as the kernel allows an ordinary user, so it must be emptied
// regularly (kCopiedStack).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <utility>
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

    struct ListedThread {
        pid_t process = 0;
        pid_t thread = 0;
    };

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

    struct Known {
        std::uint64_t event = 0;
        TaskId task = 0;
        pid_t thread = 0;  // for which it was opened
        std::size_t ring = 0;
    };
    // An event that a thread got although it may have inherited one.
    struct Doubt {
        int samples = 0;
        UniqueFd file;
    };

    void open_rings();
    bool open_unopened(TaskId task, const std::vector<ListedThread>& threads, bool doubtful,
                       std::string& trouble);
    int open_events(TaskId task, pid_t thread, bool doubtful);
    void add_counters(TaskId task, pid_t thread);
    const Known* find(std::uint64_t event) const;
    bool counts(const PerfEvent& event);
    bool has_records(pid_t thread) const;
    void forget_records(pid_t thread);
    void on_ended(pid_t thread);
    void add_made(const PerfEvent& made);

    std::uint64_t period_;
    bool sees_kernel_ = true;
    bool has_hardware_counters_ = false;
    bool counts_software_;
    std::int64_t clock_offset_;  // ns
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<UniqueFd> files_;
    std::vector<Known> known_;  // by event
    std::set<pid_t> opened_;    // threads that have events of their own
    std::set<pid_t> unforked_;  // those of them that have made no other thread since
    std::unordered_map<std::uint64_t, Doubt> doubts_;  // by event
    std::set<pid_t> uncounted_;                        // threads with doubts that have no counters
    // Key: a thread and a ring. Value: the lowest number among the events that have written records
    // of this thread to this ring.
    std::map<std::pair<pid_t, std::size_t>, std::uint64_t> lowest_;
    std::vector<Counter> counters_;
};

}  // namespace poe::pm
