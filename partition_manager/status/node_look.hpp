// NodeLook: what the tasks of one node are to a display: their slots, markers and processes, and
// rates worked out of two looks. The daemons of other nodes and a display on the task's own node
// look in the same way. Only reads.
#pragma once

#include <chrono>
#include <sys/types.h>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "partition_manager/job/watched_task.hpp"
#include "partition_manager/status/process_sums.hpp"

namespace poe::pm {

// One thread at a time. The segment must outlive it.
class NodeLook {
  public:
    using Clock = std::chrono::steady_clock;

    // `owner`: of the job.
    NodeLook(const NodeSegment& segment, uid_t owner);

    // The tasks as they are now, by local index; valid until the next look. Processes and rates are
    // looked at about once a second: that takes some 10 us for each process of the owner.
    const std::vector<WatchedTask>& look(Clock::time_point now);

  private:
    struct Before {
        std::chrono::milliseconds cpu{0};
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
    };
    void look_at_processes(Clock::time_point now);

    const NodeSegment& segment_;
    uid_t owner_;
    ProcessSums sums_;
    Clock::time_point looked_{};
    std::vector<WatchedTask> tasks_;
    std::vector<Before> before_;
};

}  // namespace poe::pm
