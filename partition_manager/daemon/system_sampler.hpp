// SystemSampler: reads the statistics of a node and its tasks from /proc and turns them into trace
// records. Files are kept open; one sample of a task takes about 10 us. The system calls of a task
// are counted by a perf event, if the kernel permits it (perf_event_paranoid, and a readable
// tracefs).
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "tracer/probe/format.hpp"

namespace poe::pm {

class SystemSampler {
  public:
    SystemSampler();

    // Appends records of what has changed for a task since its last sample. `statistics` selects
    // the totals, `doing` the task's state (used while the task records nothing itself). If the
    // process is gone, nothing is added.
    void sample_task(TaskId task, pid_t process, bool statistics, bool doing,
                     std::vector<trace::Record>& records);
    void sample_node(std::vector<trace::Record>& records);

  private:
    struct Task {
        pid_t process = 0;
        UniqueFd stat;
        UniqueFd status;
        UniqueFd io;
        UniqueFd system_calls;            // the perf event; empty: not permitted
        std::vector<std::uint64_t> told;  // last recorded values, by metric
        std::optional<trace::Doing> doing;
    };

    Task& task_of(TaskId task, pid_t process);
    static void tell(std::vector<std::uint64_t>& told, std::uint32_t owner, trace::Metric metric,
                     std::uint64_t sum, std::vector<trace::Record>& records);

    std::uint64_t ns_per_tick_;
    std::uint64_t page_bytes_;
    std::optional<std::uint64_t> system_call_event_;  // number of the tracepoint, if it is known
    std::vector<Task> tasks_;                         // by task id, up to the largest id seen
    UniqueFd stat_;
    UniqueFd memory_;
    UniqueFd vmstat_;
    UniqueFd network_;
    UniqueFd disks_;
    std::vector<std::uint64_t> node_told_;
};

}  // namespace poe::pm
