// See deadlock_watch.hpp.
#include "partition_manager/home/deadlock_watch.hpp"

#include <algorithm>
#include <utility>

namespace poe::pm {

DeadlockWatch::DeadlockWatch(std::vector<NodeIndex> places, NodeIndex nodes,
                             std::chrono::seconds timeout, Handlers handlers)
    : places_(std::move(places)),
      timeout_(timeout),
      handlers_(std::move(handlers)),
      heard_(static_cast<std::size_t>(nodes), false),
      told_(places_.size(), false),
      ended_(places_.size(), false),
      alive_(static_cast<std::size_t>(nodes), 0) {
    for (const NodeIndex node : places_) ++alive_[static_cast<std::size_t>(node)];
}

void DeadlockWatch::on_states(NodeIndex node, TaskStates message) {
    if (node < 0 || static_cast<std::size_t>(node) >= heard_.size()) return;
    const auto from = static_cast<std::size_t>(node);
    if (message.round == 0) {
        ++round_;
        heard_.assign(heard_.size(), false);
        states_.clear();
        for (std::size_t other = 0; other < heard_.size(); ++other) {
            heard_[other] = alive_[other] == 0;
            if (other != from && !heard_[other])
                handlers_.ask(static_cast<NodeIndex>(other), AskTaskStates{round_});
        }
    } else if (message.round != round_ || heard_[from]) {
        return;  // an answer to an earlier round
    }
    for (TaskState& state : message.states) {
        state.node = node;
        states_.push_back(state);
    }
    hear(from);
}

void DeadlockWatch::on_exit(TaskId task) {
    const auto index = static_cast<std::size_t>(task);
    if (task < 0 || index >= places_.size() || ended_[index]) return;
    ended_[index] = true;
    const auto node = static_cast<std::size_t>(places_[index]);
    if (--alive_[node] == 0 && round_ != 0 && !heard_[node]) hear(node);
}

// All states of that node are known.
void DeadlockWatch::hear(std::size_t node) {
    heard_[node] = true;
    if (std::find(heard_.begin(), heard_.end(), false) == heard_.end()) judge();
}

void DeadlockWatch::judge() {
    const auto tasks = static_cast<TaskId>(places_.size());
    std::vector<bool> known(places_.size(), false);
    for (const TaskState& state : states_)
        if (state.task >= 0 && state.task < tasks)
            known[static_cast<std::size_t>(state.task)] = true;
    for (TaskId task = 0; task < tasks; ++task) {
        const auto index = static_cast<std::size_t>(task);
        if (!ended_[index] || known[index]) continue;
        TaskState state;
        state.task = task;
        state.node = places_[index];
        state.life = TaskState::Life::kEnded;
        states_.push_back(state);
    }
    const WaitFindings findings = find_deadlock(states_, tasks, deadlock_patience(timeout_));
    bool news = false;
    for (const TaskId task : findings.stuck) {
        news = news || !told_[static_cast<std::size_t>(task)];
        told_[static_cast<std::size_t>(task)] = true;
    }
    if (news) handlers_.found(findings);
}

}  // namespace poe::pm
