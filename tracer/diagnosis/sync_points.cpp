// Implementation of sync_points.hpp.
#include "tracer/diagnosis/sync_points.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "tracer/probe/format.hpp"

namespace poe::trace {
namespace {

template <typename All, typename Earlier>
LongVector<std::uint32_t> in_order(const All& all, Earlier earlier) {
    LongVector<std::uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        if (earlier(all[a], all[b])) return true;
        return !earlier(all[b], all[a]) && a < b;
    };
    // A sort in place: a stable one would need memory for half of the elements.
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::sort(order.begin(), order.end(), before);
    return order;
}

// For each member, when its operation could have ended for it: the last entry of a member before it
// left. A task that computes between the start and the end of a non-blocking operation leaves
// later.
LongVector<Time> moments_of_members(const History& history) {
    const auto& members = history.members;
    const auto order = in_order(members, [](const Member& a, const Member& b) {
        return a.operation != b.operation ? a.operation < b.operation : a.entered < b.entered;
    });
    LongVector<Time> moments(members.size());
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
        while (end < order.size() &&
               members[order[end]].operation == members[order[first]].operation)
            ++end;
        for (std::size_t at = first; at < end; ++at) {
            const Member& member = members[order[at]];
            const auto later = std::partition_point(
                order.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                order.begin() + static_cast<std::ptrdiff_t>(end),
                [&](std::uint32_t other) { return members[other].entered <= member.left; });
            moments[order[at]] = members[*(later - 1)].entered;
        }
    }
    return moments;
}

// What the sweep has passed so far.
class Passed {
  public:
    explicit Passed(const History& history) : history_(history), groups_(history.tasks.size()) {}

    void wait(const TaskWait& wait) { pairs_[key_of(wait.task, wait.whom)] = wait.to; }
    void member(const Member& member, Time moment) {
        groups_[member.task][member.communicator] = moment;
    }
    Time between(TaskId waiting, TaskId awaited) const {
        Time last = std::max(first_of(waiting), first_of(awaited));
        const auto found = pairs_.find(key_of(waiting, awaited));
        if (found != pairs_.end()) last = std::max(last, found->second);
        const auto& others = groups_[awaited];
        for (const auto& [group, moment] : groups_[waiting])
            if (const auto other = others.find(group); other != others.end())
                last = std::max(last, std::min(moment, other->second));
        return last;
    }

  private:
    static std::uint64_t key_of(TaskId a, TaskId b) {
        return pair(static_cast<std::uint32_t>(std::min(a, b)),
                    static_cast<std::uint32_t>(std::max(a, b)));
    }
    Time first_of(TaskId task) const {
        const auto& all = history_.tasks[task];
        return all.empty() ? history_.begin : all.front().from;
    }

    const History& history_;
    // By the lower and the higher task: the end of their last wait for each other.
    std::unordered_map<std::uint64_t, Time> pairs_;
    // By task and communicator: when its last collective operation could have ended.
    PerTask<std::map<std::uint32_t, Time>> groups_;
};

}  // namespace

LongVector<Time> find_sync_points(const History& history) {
    const LongVector<Time> moments = moments_of_members(history);
    const auto members = in_order(moments, std::less<>());
    const auto waits =
        in_order(history.waits, [](const TaskWait& a, const TaskWait& b) { return a.to < b.to; });
    Passed passed(history);
    LongVector<Time> points(history.waits.size());
    std::size_t member = 0;
    std::size_t before = 0;
    for (const std::uint32_t each : waits) {
        const TaskWait& wait = history.waits[each];
        for (; before < waits.size() && history.waits[waits[before]].to < wait.to; ++before)
            passed.wait(history.waits[waits[before]]);
        for (; member < members.size() && moments[members[member]] < wait.to; ++member)
            if (history.members[members[member]].left > Time{0})
                passed.member(history.members[members[member]], moments[members[member]]);
        points[each] = passed.between(wait.task, wait.whom);
    }
    return points;
}

}  // namespace poe::trace
