// See tcp_peers.hpp.
#include "comm/tcp/tcp_peers.hpp"

#include <utility>

#include "base/check.hpp"

namespace poe::comm {

TcpPeers::TcpPeers(const NodeSegment& segment, TaskId me)
    : segment_(segment), own_tasks_(segment.tasks()) {
    own_job_.key = segment.facts().job_key;
    own_job_.job_id = segment.facts().job_id;
    own_job_.me = me;
    own_job_.tasks = segment.tasks();
}

void TcpPeers::add(TcpLink link) {
    POE_CHECK(find(link.identity.link) == nullptr, link.identity.link);
    const TcpLink& added = *links_.emplace_back(std::make_unique<TcpLink>(std::move(link)));
    for (std::size_t member = 0; member < added.tasks.size(); ++member) {
        if (static_cast<std::size_t>(added.tasks[member]) < tasks()) continue;
        POE_CHECK(static_cast<std::size_t>(added.tasks[member]) == tasks(), added.tasks[member]);
        guests_.push_back({&added, static_cast<TaskId>(member)});
    }
}

TcpPeers::Target TcpPeers::target(TaskId task) const {
    if (static_cast<std::size_t>(task) < own_tasks_) {
        const std::uint32_t port = segment_.port_of(task).load(std::memory_order_acquire);
        return {&own_job_, task, segment_.node_record(segment_.node_of(task)).address,
                static_cast<std::uint16_t>(port)};
    }
    const auto& [link, member] = guest(task);
    const TcpEndpoint& endpoint = link->endpoints[static_cast<std::size_t>(member)];
    return {&link->identity, member, endpoint.address, endpoint.port};
}

TaskId TcpPeers::task_of(const HandshakeIdentity& identity, TaskId member) const {
    for (const auto& link : links_)
        if (&link->identity == &identity) return link->tasks[static_cast<std::size_t>(member)];
    return member;
}

std::string TcpPeers::name(TaskId task) const {
    if (static_cast<std::size_t>(task) >= own_tasks_) {
        const auto& [link, member] = guest(task);
        return link->endpoints[static_cast<std::size_t>(member)].name;
    }
    const NodeRecord& node = segment_.node_record(segment_.node_of(task));
    return "task " + std::to_string(task) + " on " +
           (node.name[0] != 0 ? node.name : node.address.text());
}

// A job whose tasks use no TCP among each other has no key, so nobody can prove that he belongs to
// it.
const HandshakeIdentity* TcpPeers::find(std::uint64_t link) const noexcept {
    if (link == own_job_.link) return own_job_.key != JobKey{} ? &own_job_ : nullptr;
    for (const auto& each : links_)
        if (each->identity.link == link) return &each->identity;
    return nullptr;
}

}  // namespace poe::comm
