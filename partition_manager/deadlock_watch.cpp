// See deadlock_watch.hpp.
#include "partition_manager/deadlock_watch.hpp"

#include <algorithm>
#include <utility>

namespace poe::pm {

DeadlockWatch::DeadlockWatch(TaskId tasks, NodeIndex nodes, std::chrono::seconds timeout,
                             Handlers handlers)
    : tasks_(tasks),
      timeout_(timeout),
      handlers_(std::move(handlers)),
      heard_(static_cast<std::size_t>(nodes), false),
      told_(static_cast<std::size_t>(tasks), false) {}

void DeadlockWatch::on_states(NodeIndex node, TaskStates message) {
    if (node < 0 || static_cast<std::size_t>(node) >= heard_.size()) return;
    const auto from = static_cast<std::size_t>(node);
    if (message.round == 0) {
        ++round_;
        heard_.assign(heard_.size(), false);
        states_.clear();
        for (std::size_t other = 0; other < heard_.size(); ++other)
            if (other != from) handlers_.ask(static_cast<NodeIndex>(other), AskTaskStates{round_});
    } else if (message.round != round_ || heard_[from]) {
        return;  // an answer of an earlier round
    }
    heard_[from] = true;
    for (TaskState& state : message.states) {
        state.node = node;
        states_.push_back(state);
    }
    if (std::find(heard_.begin(), heard_.end(), false) == heard_.end()) judge();
}

void DeadlockWatch::judge() {
    const WaitFindings findings = find_deadlock(states_, tasks_, timeout_);
    bool news = false;
    for (const TaskId task : findings.stuck) {
        news = news || !told_[static_cast<std::size_t>(task)];
        told_[static_cast<std::size_t>(task)] = true;
    }
    if (news) handlers_.found(findings);
}

}  // namespace poe::pm
