// Implementation of sync_points.hpp.
#include "tracer/diagnosis/sync_points.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "tracer/probe/format.hpp"

namespace poe::trace {
namespace {

std::uint64_t key_of(TaskId a, TaskId b) {
    return pair(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
}

// When the receiver could have gone on with the message. A call that waits for several messages
// records them all at its end; what it waits for after this moment has another cause.
Time came(const TaskMessage& message) {
    return std::min(std::max(message.sent, message.receive_since), message.received);
}

// What the sweep has passed so far.
class Passed {
  public:
    explicit Passed(const History& history) : history_(history), groups_(history.tasks.size()) {}

    void message(const TaskMessage& message) {
        if (message.from <= message.to)
            pairs_[key_of(message.from, message.to)] = {message.sent, came(message)};
        else
            pairs_[key_of(message.to, message.from)] = {came(message), message.sent};
    }
    void member(const Member& member) { groups_[member.task][member.communicator] = member.left; }
    SyncPoint between(TaskId waiting, TaskId awaited) const {
        SyncPoint last{first_of(waiting), first_of(awaited)};
        const auto take = [&last](SyncPoint point) {
            if (point.waiting > last.waiting) last = point;
        };
        const bool ordered = waiting <= awaited;
        const auto found =
            pairs_.find(ordered ? key_of(waiting, awaited) : key_of(awaited, waiting));
        if (found != pairs_.end()) {
            const auto [low, high] = found->second;
            take(ordered ? SyncPoint{low, high} : SyncPoint{high, low});
        }
        const auto& others = groups_[awaited];
        for (const auto& [group, left] : groups_[waiting])
            if (const auto other = others.find(group); other != others.end())
                take({left, other->second});
        return last;
    }

  private:
    Time first_of(TaskId task) const {
        const auto& all = history_.tasks[task];
        return all.empty() ? history_.begin : all.front().from;
    }

    const History& history_;
    // By the lower and the higher task: the times of their last message on both.
    std::unordered_map<std::uint64_t, std::pair<Time, Time>> pairs_;
    // By task and communicator: when the task left its last collective operation.
    PerTask<std::map<std::uint32_t, Time>> groups_;
};

template <typename All, typename TimeOf>
LongVector<std::uint32_t> in_order(const All& all, TimeOf time_of) {
    LongVector<std::uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        const Time of_a = time_of(all[a]);
        const Time of_b = time_of(all[b]);
        return of_a != of_b ? of_a < of_b : a < b;
    };
    // A sort in place: a stable one would need memory for half of the elements.
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::sort(order.begin(), order.end(), earlier);
    return order;
}

}  // namespace

LongVector<SyncPoint> find_sync_points(const History& history) {
    const auto messages = in_order(history.messages, came);
    const auto members =
        in_order(history.members, [](const Member& member) { return member.left; });
    const auto waits = in_order(history.waits, [](const TaskWait& wait) { return wait.to; });
    Passed passed(history);
    LongVector<SyncPoint> points(history.waits.size());
    std::size_t message = 0;
    std::size_t member = 0;
    for (const std::uint32_t each : waits) {
        const TaskWait& wait = history.waits[each];
        for (; message < messages.size() && came(history.messages[messages[message]]) < wait.to;
             ++message)
            passed.message(history.messages[messages[message]]);
        for (; member < members.size() && history.members[members[member]].left < wait.to; ++member)
            if (history.members[members[member]].left > Time{0})
                passed.member(history.members[members[member]]);
        points[each] = passed.between(wait.task, wait.whom);
    }
    return points;
}

}  // namespace poe::trace
