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
      heard_(nodes, false),
      told_(places_.size(), false),
      ended_(places_.size(), false),
      alive_(nodes, 0) {
    for (const NodeIndex node : places_) ++alive_[node];
}

void DeadlockWatch::on_states(NodeIndex node, TaskStates message) {
    if (!heard_.has(node)) return;
    if (message.round == 0) {
        ++round_;
        heard_.fill(false);
        states_.clear();
        for (NodeIndex other = 0; other < heard_.size(); ++other) {
            heard_[other] = alive_[other] == 0;
            if (other != node && !heard_[other]) handlers_.ask(other, AskTaskStates{round_});
        }
    } else if (message.round != round_ || heard_[node]) {
        return;  // an answer to an earlier round
    }
    for (TaskState& state : message.states) {
        state.node = node;
        states_.push_back(state);
    }
    hear(node);
}

void DeadlockWatch::on_exit(TaskId task) {
    if (!places_.has(task) || ended_[task]) return;
    ended_[task] = true;
    const NodeIndex node = places_[task];
    if (--alive_[node] == 0 && round_ != 0 && !heard_[node]) hear(node);
}

// Records that all states of the node are known.
void DeadlockWatch::hear(NodeIndex node) {
    heard_[node] = true;
    if (std::find(heard_.begin(), heard_.end(), false) == heard_.end()) judge();
}

void DeadlockWatch::judge() {
    const TaskId tasks = places_.size();
    PerTask<bool> known(tasks, false);
    for (const TaskState& state : states_)
        if (known.has(state.task)) known[state.task] = true;
    for (TaskId task = 0; task < tasks; ++task) {
        if (!ended_[task] || known[task]) continue;
        TaskState state;
        state.task = task;
        state.node = places_[task];
        state.life = TaskState::Life::kEnded;
        states_.push_back(state);
    }
    const WaitFindings findings = find_deadlock(states_, tasks, deadlock_patience(timeout_));
    bool news = false;
    for (const TaskId task : findings.stuck) {
        news = news || !told_[task];
        told_[task] = true;
    }
    if (news) handlers_.found(findings);
}

}  // namespace poe::pm
