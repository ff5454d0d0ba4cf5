// NodeLook: the state of the tasks of one node for a display: their slots, markers and processes,
// and rates computed from two observations. The daemons of other nodes and a display on the task's
// own node use the same code. Read-only.
#pragma once

#include <chrono>
#include <sys/types.h>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "partition_manager/job/watched_task.hpp"
#include "partition_manager/status/process_sums.hpp"

namespace poe::pm {

// One thread at a time. The segment must outlive this object.
class NodeLook {
  public:
    using Clock = std::chrono::steady_clock;

    // `owner` is the job's user.
    NodeLook(const NodeSegment& segment, uid_t owner);

    // Returns the present states of the tasks, by local index; valid until the next call. Processes
    // and rates are updated about once a second, because this takes some 10 us per process of the
    // owner.
    const std::vector<WatchedTask>& look(Clock::time_point now);

  private:
    struct Before {
        std::chrono::milliseconds cpu{0};
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        ProcessUse use;
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
