// DeadlockWatch: `poe` puts together what the daemons say about stuck tasks and finds out whether
// there is a deadlock. A daemon that reports stuck tasks starts a round: the others are asked, and
// when all have answered, the whole job is judged. A pure state machine; no clock, no channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "partition_manager/messages.hpp"
#include "partition_manager/wait_graph.hpp"

namespace poe::pm {

class DeadlockWatch {
  public:
    struct Handlers {
        std::function<void(NodeIndex, AskTaskStates)>
            ask;                                         // for other nodes than the reporting one
        std::function<void(const WaitFindings&)> found;  // once for every new deadlock
    };

    // `timeout`: how long nothing must have moved.
    DeadlockWatch(TaskId tasks, NodeIndex nodes, std::chrono::seconds timeout, Handlers handlers);

    // What the daemon of `node` said, asked or not. May call the handlers.
    void on_states(NodeIndex node, TaskStates message);

  private:
    void judge();

    TaskId tasks_;
    std::chrono::seconds timeout_;
    Handlers handlers_;
    std::uint32_t round_ = 0;
    std::vector<bool> heard_;  // by node, in this round
    std::vector<TaskState> states_;
    std::vector<bool> told_;  // by task: that it is stuck
};

}  // namespace poe::pm
