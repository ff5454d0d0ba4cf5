// Implementation of polling.hpp.
#include "tracer/diagnosis/polling.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "tracer/analysis/replay.hpp"

namespace poe::trace {
namespace {

// For each activity of a task: the first one of the polls that follow each other up to this one.
// For an activity that does not poll, its own number.
LongVector<std::uint32_t> first_polls(const LongVector<Activity>& all) {
    LongVector<std::uint32_t> first(all.size());
    for (std::uint32_t at = 0; at < all.size(); ++at) {
        const bool follows =
            at > 0 && all[at].state == State::kPolling && all[at - 1].state == State::kPolling;
        first[at] = follows ? first[at - 1] : at;
    }
    return first;
}

// Returns the last poll before a call ended what was polled for, which happened at `moment`: that
// call, or the one before it; kNoActivity if the task has not polled. If the task has computed
// between the poll and the call, the poll must have been the first one after `moment`: it has found
// a message, which the call receives.
std::uint32_t last_poll(const LongVector<Activity>& all, std::uint32_t call, Time moment) {
    constexpr Time kLatency{1'000'000};
    std::uint32_t at = call;
    if (all[at].state == State::kPolling) return at;
    Time computed{0};
    if (at > 0 && all[at - 1].state == State::kComputing) {
        computed = all[at].from - all[at - 1].from;
        --at;
    }
    if (at == 0 || all[at - 1].state != State::kPolling) return kNoActivity;
    // The message came during the last two polls, or between them. What follows a polling call may
    // count as polling, too.
    std::uint32_t poll = at - 1;
    for (int calls = all[poll].is_call ? 1 : 0;
         poll > 0 && calls < 2 && all[poll - 1].state == State::kPolling; --poll)
        calls += all[poll - 1].is_call ? 1 : 0;
    const bool has_found = moment <= all[at].from && moment >= all[poll].from - kLatency;
    return computed <= Replay::kBetweenPolls || has_found ? at - 1 : kNoActivity;
}

class Polls {
  public:
    explicit Polls(History& history) : history_(history), firsts_(history.tasks.size()) {
        for (TaskId task = 0; task < history.tasks.size(); ++task)
            firsts_[task] = first_polls(history.tasks[task]);
    }

    // True if a task has polled for what this call has ended.
    bool before(TaskId task, std::uint32_t call, Time moment) const {
        return call != kNoActivity && last_poll(history_.tasks[task], call, moment) != kNoActivity;
    }
    // The task has polled for what `whom` did at that moment; the call has ended it.
    void add(TaskId task, std::uint32_t call, TaskId whom, Time moment) {
        const LongVector<Activity>& all = history_.tasks[task];
        const std::uint32_t poll = last_poll(all, call, moment);
        const Time from = all[firsts_[task][poll]].from;
        const Time to = std::min(moment, history_.end_of(task, poll));
        if (from < to && whom != task)
            history_.waits.push_back(
                {.task = task, .whom = whom, .from = from, .to = to, .polls = true});
    }

  private:
    History& history_;
    PerTask<LongVector<std::uint32_t>> firsts_;
};

// Returns the member that this one needs and that entered last before it left; itself if it needs
// none. `all` is in the order of entering.
const Member& needed(const Member& member, const CollectiveOperation& operation,
                     std::span<const Member* const> all) {
    const bool is_root = operation.root == member.task;
    if (operation.flow == DataFlow::kAllToOne && !is_root) return member;
    if (operation.flow == DataFlow::kOneToAll) {
        const auto root = std::find_if(all.begin(), all.end(), [&](const Member* each) {
            return each->task == operation.root;
        });
        return root == all.end() ? member : **root;
    }
    const auto after = std::partition_point(all.begin(), all.end(), [&member](const Member* each) {
        return each->entered <= member.left;
    });
    return after == all.begin() ? member : **std::prev(after);
}

void add_members(History& history, Polls& polls) {
    LongVector<const Member*> polled;
    LongVector<bool> wanted(history.operations.size());
    for (const Member& member : history.members) {
        if (!polls.before(member.task, member.end_call, Time::min())) continue;
        polled.push_back(&member);
        wanted[member.operation] = true;
    }
    if (polled.empty()) return;
    // The members of the wanted operations: by operation, in the order of entering.
    LongVector<const Member*> members;
    for (const Member& member : history.members)
        if (wanted[member.operation]) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) {
        return std::tuple(a->operation, a->entered, a) < std::tuple(b->operation, b->entered, b);
    });
    for (const Member* member : polled) {
        const auto all = std::equal_range(
            members.begin(), members.end(), member,
            [](const Member* a, const Member* b) { return a->operation < b->operation; });
        const Member& last = needed(*member, history.operations[member->operation],
                                    std::span(all.first, all.second));
        polls.add(member->task, member->end_call, last.task, last.entered);
    }
}

}  // namespace

void add_polling(History& history) {
    Polls polls(history);
    for (const TaskMessage& message : history.messages)
        if (polls.before(message.to, message.receive_call, message.sent))
            polls.add(message.to, message.receive_call, message.from, message.sent);
    add_members(history, polls);
}

}  // namespace poe::trace
