// See task_watch.hpp.
#include "partition_manager/daemon/task_watch.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "partition_manager/daemon/observed_memory.hpp"
#include "partition_manager/daemon/queue_reader.hpp"
#include "partition_manager/daemon/waiting_threads.hpp"
#include "partition_manager/status/process_sums.hpp"
#include "partition_manager/status/wait_graph.hpp"

namespace poe::pm {

namespace {

// A deadlock is seen at one check and reported at the next. Both happen after the patience and
// before the timeout.
constexpr int kLooksPerTimeout = 10;
constexpr std::chrono::milliseconds kSomeTimeout{10'000};
static_assert(deadlock_patience(kSomeTimeout) + 2 * kSomeTimeout / kLooksPerTimeout < kSomeTimeout);

}  // namespace

TaskWatch::TaskWatch(asio::io_context& loop, const NodeSegment& segment,
                     std::chrono::seconds timeout, std::function<void(TaskStates)> report)
    : timer_(loop), segment_(segment), timeout_(timeout), report_(std::move(report)) {
    if (timeout_.count() > 0) look_later();
}

// Adds the places of the calls of tasks that are stuck.
void TaskWatch::add_places(std::vector<TaskState>& states) {
    std::vector<CallSite> calls;
    const auto patience = deadlock_patience(timeout_.count() > 0 ? timeout_ : kSomeTimeout);
    const auto stuck = [patience](const TaskState& state) {
        return state.stuck_for(patience) && state.doing.site != 0;
    };
    for (const TaskState& state : states) {
        if (!stuck(state)) continue;
        calls.emplace_back(state.pid, state.doing.site);
        for (const ThreadWait& wait : state.evidence.waits)
            if (wait.doing.site != 0) calls.emplace_back(state.pid, wait.doing.site);
    }
    places_.learn(calls);
    for (TaskState& state : states) {
        if (!stuck(state)) continue;
        state.place = places_.place({state.pid, state.doing.site});
        for (ThreadWait& wait : state.evidence.waits)
            wait.place = places_.place({state.pid, wait.doing.site});
    }
}

// The slot shows the call of one thread. If that thread is in no call, and nothing has moved for a
// while, the task may wait in calls of its other threads: then the state gets the first of these.
void TaskWatch::add_evidence(const TaskSlot& slot, TaskState& state) {
    const auto timeout = timeout_.count() > 0 ? timeout_ : kSomeTimeout;
    const bool shown = state.doing.call != Call::kNone;
    const auto unmoved = std::chrono::milliseconds(state.unmoved_ms);
    if (shown ? !state.measured : unmoved < deadlock_patience(timeout)) return;
    ObservedEvidence evidence = read_observed_memory(slot);
    if (!shown) {
        if (!evidence.known || !evidence.many_threads || evidence.waits.empty()) return;
        state.doing = evidence.waits.front().doing;
        state.communicator = evidence.waits.front().communicator;
        state.waits_ms = state.unmoved_ms;
        state.unlooked_ms = 0;
        state.measured = true;
    }
    const auto is_of_file = [](const ObservedNeed& need) {
        return need.kind == ObservedNeed::Kind::kFileOperation;
    };
    const bool in_file =
        std::any_of(evidence.waits.begin(), evidence.waits.end(), [&](const ThreadWait& wait) {
            return std::any_of(wait.needs.begin(), wait.needs.end(), is_of_file);
        });
    if (in_file && evidence.known)
        evidence.known = files_.rests(slot.pid, std::chrono::steady_clock::now(),
                                      timeout / (2 * kLooksPerTimeout));
    state.evidence = std::move(evidence);
}

// The slot shows the call of one thread. If others may call, too, the task is stuck only if all of
// them are.
void TaskWatch::add_threads(std::uint32_t index, std::chrono::steady_clock::time_point now,
                            TaskState& state) {
    const auto timeout = timeout_.count() > 0 ? timeout_ : kSomeTimeout;
    if (!state.evidence.many_threads || !state.stuck_for(deadlock_patience(timeout))) return;
    ObservedEvidence evidence = read_waiting_threads(segment_.slot(index));
    // The time since the last movement is read after the evidence and for a time before it. If it
    // is long, nothing has moved between that movement and the reading of the evidence.
    state = look_at_task(segment_, index, now);
    if (evidence.known) {
        const ThreadWait& first = evidence.waits.front();
        state.doing = first.doing;
        state.awaited = first.awaited;
        state.communicator = first.communicator;
    }
    state.evidence = std::move(evidence);
}

TaskStates TaskWatch::states(std::uint32_t round) {
    const auto now = std::chrono::steady_clock::now();
    TaskStates result{round, look_at_tasks(segment_, now)};
    for (TaskState& state : result.states) {
        const auto index = segment_.local_index(state.task);
        if (state.observed && index) add_evidence(segment_.slot(*index), state);
        if (!state.observed && index) add_threads(*index, now, state);
        if (round >= kDebuggerRounds && index && state.life == TaskState::Life::kInside)
            state.queues = read_message_queues(segment_.slot(*index));
    }
    if (round != 0) add_places(result.states);
    if (round >= kStatusRounds) {
        add_process_states(result.states, ::geteuid());
        return result;
    }
    std::erase_if(result.states, [this](const TaskState& state) {
        return state.life != TaskState::Life::kEnded &&
               !state.stuck_for(deadlock_patience(timeout_));
    });
    return result;
}

void TaskWatch::look_later() {
    timer_.expires_after(timeout_ / kLooksPerTimeout);
    timer_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
        if (error || here.expired()) return;
        look();
        look_later();
    });
}

void TaskWatch::hold(bool on) {
    held_ = on;
    before_.clear();
    reported_.clear();
    resumed_ = std::chrono::steady_clock::now();
}

void TaskWatch::look() {
    if (held_ || std::chrono::steady_clock::now() - resumed_ < deadlock_patience(timeout_)) return;
    TaskStates now = states(0);
    Who who;
    for (const TaskState& state : now.states)
        who.emplace_back(state.task, state.life, state.evidence.known);
    // Tasks of one deadlock reach the limit one after another, but they are to be reported
    // together.
    const bool stays = who == before_;
    before_ = std::move(who);
    if (!stays || before_ == reported_) return;
    reported_ = before_;
    const auto waits = [](const TaskState& state) { return state.life != TaskState::Life::kEnded; };
    if (std::none_of(now.states.begin(), now.states.end(), waits)) return;
    add_places(now.states);
    report_(std::move(now));
}

}  // namespace poe::pm
