// A job that another launcher has started: its tasks do themselves what pmd does for the tasks of
// poe. They use the launcher's service (rendezvous.hpp) to find out which task is on which node.
// The first task of each node creates the node segment. After that there is no difference.
//
//   1. Each task puts a card: the identity of its node, and its cores. Task 0 also puts the job's
//      facts: name, random key, and the MPL settings, of which only task 0's count. An empty name
//      means that the settings are invalid. Fence.
//   2. Only in a job with TCP: each task opens its listening socket and puts its endpoint. Fence.
//   3. The first task of each node creates a nameless node segment and puts its path. Fence.
//   4. The other tasks attach. Fence: from now on the creator may end at any time.
//
// Nothing has a name in a file system, so nothing remains however the tasks end. Two processes are
// on the same node if they have the same kernel (boot id) and see each other's process ids (PID
// namespace), because they find the shared objects below /proc.
//
// The job's key is known to everyone with access to the launcher's service: the user, the launcher,
// and root of each node. It is as secure as the launcher.
#pragma once

#include "base/error.hpp"
#include "base/segment/node_segment.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {

// The job cannot start because of its user's settings. All tasks know it, and task 0 has printed
// the reason.
class JobRefused : public Error {
    using Error::Error;
};

// Makes this task a member of its job, which has several tasks. Its listening socket, if the job
// needs one, is in its slot as in a job of poe. Blocks until all tasks of the job have
// joined. Throws JobRefused in all tasks, or Error in this one. The job then cannot start, and the
// caller must tell the launcher.
NodeSegment join_foreign_job(Rendezvous& rendezvous, const Variables& variables);

}  // namespace poe::comm
