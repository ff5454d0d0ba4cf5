// DeadlockWatch: `poe` puts together what the daemons say about stuck tasks and finds out whether
// there is a deadlock. A daemon that reports stuck tasks starts a round: the others are asked, and
// when all have answered, the whole job is judged. A daemon all of whose tasks have ended may be
// gone, so nothing is asked of it. A pure state machine; no clock, no channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/status/wait_graph.hpp"

namespace poe::pm {

class DeadlockWatch {
  public:
    struct Handlers {
        std::function<void(NodeIndex, AskTaskStates)>
            ask;                                         // for other nodes than the reporting one
        std::function<void(const WaitFindings&)> found;  // once for every new deadlock
    };

    // `places`: the node of each task; `nodes`: how many there are. `timeout`: within which a
    // deadlock is to be found.
    DeadlockWatch(std::vector<NodeIndex> places, NodeIndex nodes, std::chrono::seconds timeout,
                  Handlers handlers);

    // What the daemon of `node` said, asked or not. May call the handlers.
    void on_states(NodeIndex node, TaskStates message);
    // A task has ended. May call the handlers.
    void on_exit(TaskId task);

  private:
    void hear(std::size_t node);
    void judge();

    std::vector<NodeIndex> places_;
    std::chrono::seconds timeout_;
    Handlers handlers_;
    std::uint32_t round_ = 0;
    std::vector<bool> heard_;  // by node, in this round
    std::vector<TaskState> states_;
    std::vector<bool> told_;     // by task: that it is stuck
    std::vector<bool> ended_;    // by task
    std::vector<TaskId> alive_;  // by node: how many tasks
};

}  // namespace poe::pm
