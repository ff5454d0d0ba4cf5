// What tasks wait for, in the words of the deadlock watch. The daemons read it from the node
// segments, and the message queues from the tasks' memory, so it costs the tasks nothing, and
// nothing is called in them.
#include <algorithm>
#include <tuple>

#include "debugger/queue_words.hpp"
#include "debugger/session.hpp"
#include "partition_manager/status/deadlock_text.hpp"
#include "partition_manager/status/wait_graph.hpp"

namespace poe::debugger {

namespace {

// A daemon that does not answer is not waited for any longer.
constexpr std::chrono::seconds kAnswerLimit{5};

// A wait in which nothing moved for this long, before the task was stopped, is judged.
constexpr std::chrono::milliseconds kPatience{300};

using pm::TaskState;

bool is_waiting(const TaskState& state) {
    return state.life == TaskState::Life::kInside && state.doing.call != Call::kNone;
}

std::string words_for(const TaskState& state) {
    if (state.life == TaskState::Life::kEnded) return "has ended";
    if (state.life == TaskState::Life::kOutside) return "has not called MPL or MPI";
    if (state.doing.call == Call::kNone) return "computes (is in no call)";
    if (!state.measured) return "is in " + std::string(call_name(state.doing.call));
    return "waits in " + pm::call_in_words(state) +
           (state.place.empty() ? "" : ", called at " + state.place);
}

}  // namespace

void Session::why(const TaskSet& tasks, bool messages) {
    Waits waits;
    waits.round = pm::kDebuggerRounds + ++round_;
    waits.tasks = tasks;
    waits.messages = messages;
    waits.limit = now_ + kAnswerLimit;
    for (std::size_t node = 0; node < gdbs_.by_node.size(); ++node) {
        if (!gdbs_.by_node[node]) continue;
        ++waits.nodes_left;
        handlers_.send(pm::AskTaskStates{waits.round}, static_cast<NodeIndex>(node));
    }
    asked_ = std::move(waits);
    operation([](Operation&) {});
}

void Session::on_states(NodeIndex node, const pm::TaskStates& states) {
    if (!asked_ || states.round != asked_->round) return;
    for (TaskState state : states.states) {
        state.node = node;
        asked_->states.push_back(std::move(state));
    }
    if (--asked_->nodes_left == 0) show_waits();
}

void Session::show_waits() {
    Waits waits = std::move(*asked_);
    asked_.reset();
    const OperationPtr done = operation_;
    std::map<std::string, TaskSet> waiting;
    Answers answers;
    for (TaskState& state : waits.states) {
        // A task that is stopped cannot check for messages. It is judged as if it had just done so.
        const DebuggedTask* task = find(state.task);
        if (task != nullptr && task->stopped && state.measured) state.unlooked_ms = 0;
        if (is_waiting(state) && state.measured)
            waiting[std::string(call_name(state.doing.call))].insert(state.task);
        if (!waits.tasks.contains(state.task)) continue;
        std::string text = words_for(state);
        if (waits.messages)
            for (const std::string& line : queue_lines(state)) text += "\n" + line;
        answers.emplace_back(state.task, std::move(text));
    }
    groups_->set_waiting(std::move(waiting));
    Report report;
    report.command = typed_.line;
    report.answers = fold(answers);
    if (!waits.messages) {
        const pm::WaitFindings findings =
            pm::find_deadlock(waits.states, groups_->tasks(), kPatience);
        if (!findings.stuck.empty()) {
            report.lines.push_back(findings.headline());
            for (const std::string& line : findings.lines) report.lines.push_back("  " + line);
        }
    }
    show(std::move(report));
    if (done) finish_one(done);
}

}  // namespace poe::debugger
