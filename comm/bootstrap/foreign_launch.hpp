// A job that another launcher has started: its tasks do for themselves what pmd does for the tasks
// of poe. They tell each other through the launcher's service (rendezvous.hpp) who is on which
// node, and the first task of each node makes the node segment. From then on nothing differs.
//
//   1. Everybody puts a card (what node it is on, its cores), task 0 also the job's facts (name,
//      random key, settings of MPL: the ones of task 0 count; no name: they are wrong).  Fence.
//   2. Only in a job with TCP: everybody opens its listening socket, and puts where.  Fence.
//   3. The first task of each node makes the node segment, nameless, and puts where.  Fence.
//   4. The others attach.  Fence: now its maker may end at any time.
//
// Nothing has a name in a file system, so nothing is left however the tasks end. Two processes are
// on one node when they have the same kernel (boot id) and see each other's process numbers (pid
// namespace): what is shared between them is found below /proc.
//
// The job's key is known to whoever can read the launcher's service: the user, the launcher, and
// root of each node. It is as safe as the launcher is.
#pragma once

#include "base/error.hpp"
#include "base/segment/node_segment.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {

// The job cannot begin because of what its user set; all tasks know, and task 0 has said why.
class JobRefused : public Error {
    using Error::Error;
};

// Brings this task, one of several, into the job; its listening socket, if the job needs one, is in
// its slot as if pmd had put it there. Blocks until all tasks of the job are here. Throws
// JobRefused in all tasks, or Error in this one; then the job cannot begin, and somebody should
// tell the launcher.
NodeSegment join_foreign_job(Rendezvous& rendezvous, const Variables& variables);

}  // namespace poe::comm
