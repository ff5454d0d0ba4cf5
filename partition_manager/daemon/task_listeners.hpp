// The listening sockets of a node's tasks, made before the first task starts: so whoever connects
// to a task that has not made its first MPL call yet is queued by the system. Only jobs that need
// TCP have them.
#pragma once

#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// Fills in what tasks need to find and trust each other: the key, and the nodes' addresses and
// names. Throws Error when the job lacks them. Precondition: needs_tcp(job).
void add_tcp_facts(const JobSpec& job, NodeSegmentSpec& spec);

// Writes into the segment of one node where the tasks of the others listen. Before any task starts;
// ports that fit no task of the job are left out.
void write_ports(const JobSpec& job, const std::vector<NodeFacts>& nodes,
                 const NodeSegment& segment);

// For one thread; none of it blocks.
class TaskListeners {
  public:
    // Makes `tasks` sockets, on this address of the node only. Throws Error.
    TaskListeners(const NodeAddress& address, std::size_t tasks);

    // In the order of the sockets.
    const std::vector<std::uint16_t>& ports() const { return ports_; }

    // The segment of the tasks, which must outlive this; writes their ports into it.
    void attach(const NodeSegment& segment);

    // The socket of a local task, for it to inherit, under a number that its slot names from now
    // on. Once per task, after attach().
    UniqueFd take(TaskId task);

  private:
    const NodeSegment* segment_ = nullptr;
    std::vector<UniqueFd> sockets_;  // by local index
    std::vector<std::uint16_t> ports_;
};

}  // namespace poe::pm
