// NodeUse: the reservation of a node's processors and adapter (-cpu_use, -adapter_use, and the
// words of the host file). Every job holds a lock on each of the two, shared or exclusive.
// Therefore a job that wants one for itself does not start beside others, and no other job starts
// beside it. The kernel releases the locks when the daemon ends, however it ends.
//
// The locks are on files in the directory of all jobs, one for each resource and host name, which
// all users can open. A job never waits for a lock. The last one removes the files.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

class NodeUse {
  public:
    NodeUse() = default;
    // Releases both resources.
    ~NodeUse();
    NodeUse(const NodeUse&) = delete;
    NodeUse& operator=(const NodeUse&) = delete;

    // Locks both resources of this node as requested. Returns an empty text, or why the node cannot
    // be used now: what another job has reserved or uses. `parent` is the directory of all jobs. If
    // the files cannot be opened, a request for shared use succeeds without a lock. Blocks for at
    // most five seconds, while other jobs start or end. Call it once.
    std::string take(const std::string& parent, const std::string& host,
                     const NodeReservation& wanted);

  private:
    UniqueFd processors_;
    UniqueFd adapter_;
    std::string processors_path_;
    std::string adapter_path_;
};

// The use of this node now, for a user to read: "free", or for example "processors shared, adapter
// reserved by a job of user 1000 (pmd 4711)". Does not block.
std::string node_use_text(const std::string& parent, const std::string& host);

// Removes the files that a killed daemon has left, unless a job uses the node.
void remove_unused_reservations(const std::string& parent, const std::string& host);

}  // namespace poe::pm
