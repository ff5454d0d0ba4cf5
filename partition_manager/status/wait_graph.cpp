// Finds the stuck tasks; see wait_graph.hpp. The texts are in deadlock_text.cpp.
#include "partition_manager/status/wait_graph.hpp"

#include <algorithm>

#include "base/task_ranges.hpp"
#include "partition_manager/status/deadlock_text.hpp"
#include "partition_manager/status/observed_waits.hpp"

namespace poe::pm {
namespace {

PerTask<const TaskState*> by_task(std::span<const TaskState> states, TaskId tasks) {
    PerTask<const TaskState*> result(tasks, nullptr);
    for (const TaskState& state : states)
        if (result.has(state.task)) result[state.task] = &state;
    return result;
}

// If several threads of a task of our own library may call, the task can continue if one of them
// can, or if what they do is not known. Nothing is known of a task in which a thread calls
// MPI_Finalize while others are in calls, and of a task of another job.
void resolve_thread_waits(std::vector<TaskState>& states, TaskId tasks) {
    for (TaskState& state : states) {
        if (state.observed || !state.evidence.many_threads) continue;
        const std::vector<ThreadWait>& waits = state.evidence.waits;
        const auto unknown = [&](const ThreadWait& wait) {
            return wait.awaited.peer >= tasks ||
                   (wait.awaited.kind == Awaited::Kind::kAll && waits.size() > 1);
        };
        if (!state.evidence.known || std::any_of(waits.begin(), waits.end(), unknown))
            state.measured = false;
        if (!state.measured || waits.size() < 2) continue;
        for (const ThreadWait& wait : waits)
            state.awaited_by_threads.push_back(wait.awaited.kind == Awaited::Kind::kUnknown
                                                   ? Awaited::kAnybody
                                                   : wait.awaited.peer);
    }
}

// Starts with all waiting tasks, and repeatedly removes tasks that a task outside the set could
// wake.
std::vector<TaskId> stuck_tasks(const PerTask<const TaskState*>& states,
                                std::chrono::milliseconds patience) {
    const TaskId tasks = states.size();
    PerTask<bool> stuck(tasks, false);
    PerTask<std::vector<TaskId>> waiters_of(tasks);
    std::vector<TaskId> waits_for_anybody;
    std::vector<TaskId> waits_for_all;
    std::vector<TaskId> awake;
    for (TaskId task = 0; task < tasks; ++task) {
        const TaskState* state = states[task];
        if (state != nullptr && state->life == TaskState::Life::kEnded) continue;
        if (state == nullptr || !state->stuck_for(patience) || state->awaited.peer >= tasks) {
            awake.push_back(task);
            continue;
        }
        stuck[task] = true;
        std::vector<TaskId> others = state->alternatives;
        others.insert(others.end(), state->awaited_by_threads.begin(),
                      state->awaited_by_threads.end());
        if (std::any_of(others.begin(), others.end(),
                        [tasks](TaskId other) { return other < 0 || other >= tasks; })) {
            waits_for_anybody.push_back(task);
            continue;
        }
        for (const TaskId other : others) waiters_of[other].push_back(task);
        if (state->awaited.kind == Awaited::Kind::kAll)
            waits_for_all.push_back(task);
        else if (state->awaited.kind == Awaited::Kind::kUnknown || state->awaited.peer < 0)
            waits_for_anybody.push_back(task);
        else
            waiters_of[state->awaited.peer].push_back(task);
    }
    const auto wake = [&](const std::vector<TaskId>& waiters) {
        for (const TaskId waiter : waiters) {
            if (!stuck[waiter]) continue;
            stuck[waiter] = false;
            awake.push_back(waiter);
        }
    };
    if (!awake.empty()) wake(waits_for_anybody);
    for (std::size_t i = 0; i < awake.size(); ++i) wake(waiters_of[awake[i]]);
    const auto all_stuck = std::count(stuck.begin(), stuck.end(), true);
    if (all_stuck == static_cast<std::ptrdiff_t>(waits_for_all.size())) return {};
    std::vector<TaskId> result;
    for (TaskId task = 0; task < tasks; ++task)
        if (stuck[task]) result.push_back(task);
    return result;
}

// At most one target counts for each stuck task, so each walk ends in a cycle or at a task without
// a target.
std::vector<std::vector<TaskId>> circles(const std::vector<TaskId>& stuck,
                                         const WaitTargets& targets) {
    std::vector<std::vector<TaskId>> result;
    // Number of the walk that visited the task.
    PerTask<std::size_t> walk_of(targets.tasks(), 0);
    std::size_t walk = 0;
    for (const TaskId start : stuck) {
        ++walk;
        TaskId at = start;
        while (at >= 0 && walk_of[at] == 0) {
            walk_of[at] = walk;
            at = targets.of(at);
        }
        if (at < 0 || walk_of[at] != walk) continue;
        std::vector<TaskId> circle;
        for (TaskId next = at; circle.empty() || next != at; next = targets.of(next))
            circle.push_back(next);
        std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
        result.push_back(std::move(circle));
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace

WaitTargets::WaitTargets(const PerTask<const TaskState*>& states, const std::vector<TaskId>& stuck)
    : states_(states), stuck_(states.size(), false) {
    for (const TaskId task : stuck) stuck_[task] = true;
}

TaskId WaitTargets::of(TaskId task) const {
    if (!stuck_[task]) return -1;
    const TaskState& state = *states_[task];
    if (state.awaited.kind == Awaited::Kind::kUnknown) return -1;
    if (state.awaited.kind == Awaited::Kind::kAll) {
        for (TaskId other = 0; other < states_.size(); ++other)
            if (stuck_[other] && states_[other]->awaited.kind != Awaited::Kind::kAll) return other;
        return -1;
    }
    TaskId target = state.awaited.peer;
    if (!is_collective(state.doing.call)) return target;
    // Within a collective call, tasks in the same call are skipped.
    for (TaskId steps = 0; steps < states_.size(); ++steps) {
        if (target < 0 || !stuck_[target]) return target;
        const TaskState& next = *states_[target];
        if (!same_operation(next.doing, state.doing)) return target;
        target = next.awaited.kind == Awaited::Kind::kUnknown ? -1 : next.awaited.peer;
    }
    return state.awaited.peer;
}

WaitFindings find_deadlock(std::span<const TaskState> states, TaskId tasks,
                           std::chrono::milliseconds patience) {
    WaitFindings findings;
    std::vector<TaskState> resolved(states.begin(), states.end());
    resolve_observed_waits(resolved);
    resolve_thread_waits(resolved, tasks);
    const PerTask<const TaskState*> all = by_task(resolved, tasks);
    findings.stuck = stuck_tasks(all, patience);
    if (findings.stuck.empty()) return findings;
    const WaitTargets targets(all, findings.stuck);
    findings.cycles = circles(findings.stuck, targets);
    findings.lines = lines_about(all, findings.stuck, findings.cycles, targets);
    return findings;
}

std::string WaitFindings::headline() const {
    const bool each_other = std::any_of(cycles.begin(), cycles.end(),
                                        [](const auto& circle) { return circle.size() > 1; });
    return "deadlock: " + tasks_in_words(stuck) +
           (each_other ? " wait for each other and can never go on" : " can never go on");
}

}  // namespace poe::pm
