// TcpPeers: where the other tasks listen, and with which key this task proves to them who it is.
// The tasks of the own job are in the node segment. A guest is a task of another job that MPI has
// connected with this job (MPI 5.0, chapter 11). Each process numbers its guests itself: in a job
// of n tasks, the first guest has the number n, and the following ones the next numbers.
//
// Guests become known by links. A link is a list of tasks of several jobs, which is the same at all
// of them, with a name and a key. If two tasks are in several links, they use the first one, which
// both learn before any later one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "comm/tcp/tcp_handshake.hpp"

namespace poe::comm {

// Where a task listens.
struct TcpEndpoint {
    NodeAddress address;
    std::uint16_t port = 0;
    std::string name;  // the task and its node, for messages
};

struct TcpLink {
    HandshakeIdentity identity;
    std::vector<TaskId> tasks;           // by member: its number in this process
    std::vector<TcpEndpoint> endpoints;  // by member
};

// For one thread. The segment must outlive this object.
class TcpPeers final : public HandshakeIdentities {
  public:
    TcpPeers(const NodeSegment& segment, TaskId me);

    // Adds a link. Members with numbers from tasks() on, in ascending order, become known by it.
    void add(TcpLink link);
    // The number of known tasks, this one and guests included.
    std::size_t tasks() const noexcept { return own_tasks_ + guests_.size(); }

    // How to call a task: its place in the link, and where it listens. Port 0: not known yet.
    struct Target {
        const HandshakeIdentity* identity = nullptr;
        TaskId member = 0;
        NodeAddress address;
        std::uint16_t port = 0;
    };
    Target target(TaskId task) const;
    // The task that has this place in the link of `identity`.
    TaskId task_of(const HandshakeIdentity& identity, TaskId member) const;
    // "task 3 on node7".
    std::string name(TaskId task) const;

    const HandshakeIdentity* find(std::uint64_t link) const noexcept override;

  private:
    struct Guest {
        const TcpLink* link;
        TaskId member;
    };
    const Guest& guest(TaskId task) const {
        return guests_[static_cast<std::size_t>(task) - own_tasks_];
    }

    const NodeSegment& segment_;
    std::size_t own_tasks_;
    HandshakeIdentity own_job_;
    std::vector<std::unique_ptr<TcpLink>> links_;
    std::vector<Guest> guests_;
};

}  // namespace poe::comm
