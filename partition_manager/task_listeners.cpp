// See task_listeners.hpp.
#include "partition_manager/task_listeners.hpp"

#include <fcntl.h>
#include <utility>

#include "comm/base/check.hpp"
#include "comm/base/error.hpp"
#include "partition_manager/spawn.hpp"

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

TaskListeners::TaskListeners(const NodeSegment& segment) : segment_(segment) {
    const NodeAddress& address = segment.node_record(segment.facts().node).address;
    for (std::uint32_t index = 0; index < segment.local_tasks(); ++index) {
        std::uint16_t port = 0;
        sockets_.push_back(move_up(listen_on(address, port)));
        segment.port_of(segment.task_at(index)).store(port, std::memory_order_release);
    }
}

UniqueFd TaskListeners::take(TaskId task) {
    const auto index = segment_.local_index(task);
    POE_CHECK(index.has_value() && sockets_[*index], task);
    const UniqueFd ours = std::move(sockets_[*index]);
    // A low number: see spawn.hpp.
    UniqueFd low(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 3));
    if (!low) throw_errno("passing a listening socket to a task");
    segment_.slot(*index).listener = low.get();
    return low;
}

}  // namespace poe::pm
