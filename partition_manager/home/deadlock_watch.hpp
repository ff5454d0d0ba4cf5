// DeadlockWatch: combines the reports of the daemons about stuck tasks, and finds out in `poe`
// whether there is a deadlock.
//
//   1. A daemon that reports stuck tasks without being asked starts a round.
//   2. The daemons of the other nodes are asked for their states. A daemon whose tasks have all
//      ended may have exited, so it is not asked.
//   3. When the states of all nodes are known, the whole job is examined.
//
// A pure state machine: it uses no clock and no channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/per_task.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/status/wait_graph.hpp"

namespace poe::pm {

class DeadlockWatch {
  public:
    struct Handlers {
        // Called for each node but the reporting one.
        std::function<void(NodeIndex, AskTaskStates)> ask;
        std::function<void(const WaitFindings&)> found;  // called once for every new deadlock
    };

    // `places` holds the node of each task; `nodes` is the number of nodes. A deadlock is to be
    // found within `timeout`.
    DeadlockWatch(std::vector<NodeIndex> places, NodeIndex nodes, std::chrono::seconds timeout,
                  Handlers handlers);

    // Records the states that the daemon of `node` reported, on request or by itself. May call the
    // handlers.
    void on_states(NodeIndex node, TaskStates message);
    // Records that a task has ended. May call the handlers.
    void on_exit(TaskId task);

  private:
    void hear(NodeIndex node);
    void judge();

    PerTask<NodeIndex> places_;
    std::chrono::seconds timeout_;
    Handlers handlers_;
    std::uint32_t round_ = 0;
    PerNode<bool> heard_;  // its states are known in this round
    std::vector<TaskState> states_;
    PerTask<bool> told_;  // already reported as stuck
    PerTask<bool> ended_;
    PerNode<TaskId> alive_;  // number of running tasks
};

}  // namespace poe::pm
