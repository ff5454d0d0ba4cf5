// Implementation of complete_history.hpp.
#include "tracer/diagnosis/complete_history.hpp"

#include <algorithm>
#include <tuple>

#include "tracer/diagnosis/polling.hpp"

namespace poe::trace {
namespace {

void remove_overlaps(LongVector<TaskWait>& waits) {
    std::sort(waits.begin(), waits.end(), [](const TaskWait& a, const TaskWait& b) {
        return std::tie(a.task, a.from, a.to) < std::tie(b.task, b.from, b.to);
    });
    TaskId task = -1;
    Time until{0};
    std::erase_if(waits, [&](TaskWait& wait) {
        if (wait.task == task) wait.from = std::max(wait.from, until);
        if (wait.from >= wait.to) return true;
        task = wait.task;
        until = wait.to;
        return false;
    });
}

// The messages in the order in which their receivers took them: by receiver, then by the time of
// the receive. The history has the messages of each receiver nearly in that order.
LongVector<std::uint32_t> by_receive(const LongVector<TaskMessage>& messages, TaskId tasks) {
    PerTask<std::size_t> next(tasks, 0);  // the place of the next message, by receiver
    for (const TaskMessage& message : messages)
        if (message.to + 1 < tasks) ++next[message.to + 1];
    for (TaskId task = 1; task < tasks; ++task) next[task] += next[task - 1];
    LongVector<std::uint32_t> order(messages.size());
    for (std::uint32_t i = 0; i < messages.size(); ++i) order[next[messages[i].to]++] = i;
    const auto earlier = [&messages](std::uint32_t a, std::uint32_t b) {
        const TaskMessage& x = messages[a];
        const TaskMessage& y = messages[b];
        return std::tie(x.receive_since, x.received, a) < std::tie(y.receive_since, y.received, b);
    };
    for (TaskId task = 0; task < tasks; ++task) {
        const auto begin =
            order.begin() + static_cast<std::ptrdiff_t>(task == 0 ? 0 : next[task - 1]);
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(next[task]);
        if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
    }
    return order;
}

// Gives waits for messages their communicators, and marks messages in the wrong order: a message
// was sent earlier than the awaited one and is received in a later call.
void match_waits(History& history) {
    const LongVector<TaskMessage>& messages = history.messages;
    const LongVector<std::uint32_t> order = by_receive(messages, history.tasks.size());
    // The earliest sending time of the messages from this one on that the same task receives.
    LongVector<Time> earliest(order.size() + 1, kFarthest);
    for (std::size_t i = order.size(); i-- > 0;) {
        const bool same =
            i + 1 < order.size() && messages[order[i + 1]].to == messages[order[i]].to;
        earliest[i] = std::min(messages[order[i]].sent, same ? earliest[i + 1] : kFarthest);
    }
    const auto first_since = [&](TaskId to, Time since) {
        return static_cast<std::size_t>(
            std::lower_bound(order.begin(), order.end(), std::tuple(to, since),
                             [&messages](std::uint32_t each, const std::tuple<TaskId, Time>& key) {
                                 const TaskMessage& m = messages[each];
                                 return std::tuple(m.to, m.receive_since) < key;
                             }) -
            order.begin());
    };
    for (TaskWait& wait : history.waits) {
        const bool sender = wait.pattern == WaitPattern::kLateSender ||
                            wait.pattern == WaitPattern::kLatePost ||
                            wait.pattern == WaitPattern::kLateComplete;
        if (wait.polls) continue;
        if (!sender && wait.pattern != WaitPattern::kLateReceiver) continue;
        if (wait.call == kNoActivity) continue;
        // A late sender is awaited in this call; a late receiver enters its call when the wait
        // ends.
        const TaskId to = sender ? wait.task : wait.whom;
        const Time since = sender ? history.tasks[to][wait.call].from : wait.to;
        const std::size_t next_call = first_since(to, since + Time{1});
        for (std::size_t i = first_since(to, since); i < next_call; ++i) {
            const TaskMessage& message = messages[order[i]];
            if (message.from != (sender ? wait.whom : wait.task)) continue;
            if (sender && std::min(message.sent, message.received) != wait.to) continue;
            wait.communicator = message.communicator;
            const bool same_task = next_call < order.size() && messages[order[next_call]].to == to;
            if (wait.pattern == WaitPattern::kLateSender && same_task &&
                earliest[next_call] < message.sent)
                wait.pattern = WaitPattern::kWrongOrder;
            break;
        }
    }
}

void find_limits(History& history) {
    bool any = false;
    for (const LongVector<Activity>& all : history.tasks) {
        if (all.empty()) continue;
        history.begin = any ? std::min(history.begin, all.front().from) : all.front().from;
        history.end = any ? std::max(history.end, all.back().from) : all.back().from;
        any = true;
    }
}

}  // namespace

void complete(History& history) {
    find_limits(history);
    for (TaskMessage& message : history.messages) {
        message.send_call = history.call_since(message.from, message.send_since);
        message.receive_call = history.call_since(message.to, message.receive_since);
    }
    for (Member& member : history.members) {
        member.start_call = history.call_since(member.task, member.entered);
        if (member.left > Time{0})
            member.end_call = history.call_since(member.task, member.end_since);
    }
    add_polling(history);
    remove_overlaps(history.waits);
    history.wait_ends = PerTask<std::size_t>(history.tasks.size());
    for (const TaskWait& wait : history.waits) ++history.wait_ends[wait.task];
    for (TaskId task = 1; task < history.tasks.size(); ++task)
        history.wait_ends[task] += history.wait_ends[task - 1];
    for (TaskWait& wait : history.waits) {
        wait.call = history.activity_at(wait.task, wait.from);
        if (wait.call == kNoActivity) continue;
        if (!history.tasks[wait.task][wait.call].is_call) wait.call = kNoActivity;
    }
    match_waits(history);
}

}  // namespace poe::trace
