// The listening sockets of a node's tasks, made before the first task starts: so whoever connects
// to a task that has not made its first MPL call yet is queued by the system. Only jobs that need
// TCP have them.
#pragma once

#include <vector>

#include "comm/base/node_segment.hpp"
#include "comm/base/unique_fd.hpp"
#include "partition_manager/job.hpp"

namespace poe::pm {

// Fills in what tasks need to find and trust each other: the key, and the nodes' addresses and
// names. Throws Error when the job lacks them. Precondition: needs_tcp(job).
void add_tcp_facts(const JobSpec& job, NodeSegmentSpec& spec);

// For one thread; none of it blocks.
class TaskListeners {
  public:
    // Makes a socket for each local task, on the node's own address only, and writes the ports into
    // the segment, which must outlive this. Throws Error.
    explicit TaskListeners(const NodeSegment& segment);

    // The socket of a local task, for it to inherit, under a number that its slot names from now
    // on. Once per task.
    UniqueFd take(TaskId task);

  private:
    const NodeSegment& segment_;
    std::vector<UniqueFd> sockets_;  // by local index
};

}  // namespace poe::pm
