// The listening sockets of a node's tasks. They are created before the first task starts, so the
// kernel queues connections to a task that has not made its first MPL call yet. Only jobs that need
// TCP have them.
#pragma once

#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// Adds what tasks need to find and trust each other: the key, and the addresses and names of the
// nodes. Throws Error if the job lacks them. Precondition: needs_tcp(job).
void add_tcp_facts(const JobSpec& job, NodeSegmentSpec& spec);

// Writes the ports of the tasks on other nodes into the segment of one node. To be called before
// any task starts. Ports that belong to no task of the job are ignored.
void write_ports(const JobSpec& job, const std::vector<NodeFacts>& nodes,
                 const NodeSegment& segment);

// Not thread-safe. No call blocks.
class TaskListeners {
  public:
    // Creates `tasks` sockets that listen only on this address of the node. Throws Error.
    TaskListeners(const NodeAddress& address, std::size_t tasks);

    // In the order of the sockets.
    const std::vector<std::uint16_t>& ports() const { return ports_; }

    // Sets the segment of the tasks and writes their ports into it. The segment must outlive this
    // object.
    void attach(const NodeSegment& segment);

    // Returns the socket of a local task, for the task to inherit, and stores its descriptor number
    // in the task's slot. To be called once per task, after attach().
    UniqueFd take(TaskId task);

  private:
    const NodeSegment* segment_ = nullptr;
    std::vector<UniqueFd> sockets_;  // by local index
    std::vector<std::uint16_t> ports_;
};

}  // namespace poe::pm
