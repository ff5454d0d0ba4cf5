// See task_listeners.hpp.
#include "partition_manager/daemon/task_listeners.hpp"

#include <fcntl.h>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

void add_tcp_facts(const JobSpec& job, NodeSegmentSpec& spec) {
    if (!job.job_key) throw Error("the job needs TCP between its tasks, but has no key for that");
    spec.job_key = *job.job_key;
    spec.node_names = job.nodes;
    if (job.addresses.empty()) {
        if (job.nodes.size() > 1)
            throw Error("the job has several nodes, but their addresses are missing");
        spec.node_addresses = {loopback_address()};
        return;
    }
    for (std::size_t node = 0; node < job.addresses.size(); ++node) {
        const auto address = NodeAddress::parse(job.addresses[node]);
        if (!address)
            throw Error("\"" + job.addresses[node] + "\", the address of node " + job.nodes[node] +
                        ", is no IPv4 or IPv6 address");
        spec.node_addresses.push_back(*address);
    }
}

void write_ports(const JobSpec& job, const std::vector<NodeFacts>& nodes,
                 const NodeSegment& segment) {
    std::vector<std::vector<std::uint16_t>> ports(job.nodes.size());
    for (const NodeFacts& node : nodes)
        if (node.node >= 0 && static_cast<std::size_t>(node.node) < ports.size())
            ports[static_cast<std::size_t>(node.node)] = node.ports;
    std::vector<std::size_t> next(job.nodes.size(), 0);
    for (std::size_t task = 0; task < job.tasks.size(); ++task) {
        const auto node = static_cast<std::size_t>(job.tasks[task].node);
        const std::size_t place = next[node]++;
        if (place < ports[node].size() && job.tasks[task].node != segment.facts().node)
            segment.port_of(static_cast<TaskId>(task))
                .store(ports[node][place], std::memory_order_release);
    }
}

TaskListeners::TaskListeners(const NodeAddress& address, std::size_t tasks) {
    for (std::size_t task = 0; task < tasks; ++task) {
        std::uint16_t port = 0;
        sockets_.push_back(move_up(listen_on(address, port)));
        ports_.push_back(port);
    }
}

void TaskListeners::attach(const NodeSegment& segment) {
    POE_CHECK(segment.local_tasks() == ports_.size(), segment.local_tasks(), ports_.size());
    segment_ = &segment;
    for (std::uint32_t index = 0; index < segment.local_tasks(); ++index)
        segment.port_of(segment.task_at(index)).store(ports_[index], std::memory_order_release);
}

UniqueFd TaskListeners::take(TaskId task) {
    const auto index = segment_->local_index(task);
    POE_CHECK(index.has_value() && sockets_[*index], task);
    const UniqueFd ours = std::move(sockets_[*index]);
    // The number must be low; see spawn.hpp.
    UniqueFd low(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 3));
    if (!low) throw_errno("passing a listening socket to a task");
    segment_->slot(*index).listener = low.get();
    return low;
}

}  // namespace poe::pm
