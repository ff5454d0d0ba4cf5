// SystemSampler: what /proc says about the tasks of a node and the node itself, as records of a
// trace. Files are kept open: a task costs about 10 us per look.
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

    // Adds what has changed for a task since it was looked at last: `statistics`, its sums;
    // otherwise, and when it records nothing itself, what it is doing. A process that is gone adds
    // nothing.
    void sample_task(TaskId task, pid_t process, bool statistics, bool doing,
                     std::vector<trace::Record>& records);
    void sample_node(std::vector<trace::Record>& records);

  private:
    struct Task {
        pid_t process = 0;
        UniqueFd stat;
        UniqueFd status;
        UniqueFd io;
        std::vector<std::uint64_t> told;  // by metric
        std::optional<trace::Doing> doing;
    };

    Task& task_of(TaskId task, pid_t process);
    static void tell(std::vector<std::uint64_t>& told, std::uint32_t owner, trace::Metric metric,
                     std::uint64_t sum, std::vector<trace::Record>& records);

    std::uint64_t ns_per_tick_;
    std::uint64_t page_bytes_;
    std::vector<Task> tasks_;  // by task id, as far as seen
    UniqueFd stat_;
    UniqueFd memory_;
    UniqueFd vmstat_;
    UniqueFd network_;
    UniqueFd disks_;
    std::vector<std::uint64_t> node_told_;
};

}  // namespace poe::pm
