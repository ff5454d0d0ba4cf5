// Implementation of critical_path.hpp.
#include "tracer/diagnosis/critical_path.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace poe::trace {
namespace {

// The task whose last activity ends last; -1: there is none.
TaskId last_task(const History& history) {
    TaskId last = -1;
    Time until{0};
    for (TaskId task = 0; task < history.tasks.size(); ++task) {
        const LongVector<Activity>& all = history.tasks[task];
        if (all.empty() || (last >= 0 && all.back().from <= until)) continue;
        last = task;
        until = all.back().from;
    }
    return last;
}

// The parts, latest first. Each wait is used at most once, so the walk ends.
LongVector<PathPart> walk_back(const History& history) {
    PerTask<std::size_t> left(history.tasks.size());  // by task: the number of its unused waits
    for (TaskId task = 0; task < left.size(); ++task) left[task] = history.waits_of(task).size();
    LongVector<PathPart> parts;
    Time at = history.end;
    for (TaskId task = last_task(history); task >= 0;) {
        const std::span<const TaskWait> waits = history.waits_of(task);
        while (left[task] > 0 && waits[left[task] - 1].to > at) --left[task];
        if (left[task] == 0) {
            parts.push_back({task, history.begin, at});
            break;
        }
        const TaskWait& wait = waits[--left[task]];
        if (wait.to < at) parts.push_back({task, wait.to, at});
        at = wait.to;
        task = wait.whom;
    }
    return parts;
}

class Profile {
  public:
    explicit Profile(const History& history) : history_(history) {}

    void add(const PathPart& part) {
        const LongVector<Activity>& all = history_.tasks[part.task];
        Time covered = part.from;
        const std::uint32_t first = history_.activity_at(part.task, part.from);
        for (std::size_t at = first == kNoActivity ? 0 : first;
             at < all.size() && all[at].from < part.to; ++at) {
            const Time from = std::max(all[at].from, part.from);
            const Time to = std::min(history_.end_of(part.task, at), part.to);
            if (from > covered) add(part.task, {}, from - covered);
            if (to > from) add(part.task, all[at], to - from);
            covered = std::max(covered, to);
        }
        // Before its first activity and after its last one a task is not traced.
        if (part.to > covered) add(part.task, {}, part.to - covered);
    }
    std::vector<PathShare> shares() const {
        std::vector<PathShare> all;
        for (const auto& [key, share] : shares_) all.push_back(share);
        std::stable_sort(all.begin(), all.end(),
                         [](const PathShare& a, const PathShare& b) { return a.time > b.time; });
        return all;
    }

  private:
    void add(TaskId task, const Activity& what, Time time) {
        PathShare& share = shares_[{task, what.state, what.region, what.site, what.phase}];
        share = {task, what.state, what.region, what.site, what.phase, share.time + time};
    }

    const History& history_;
    std::map<std::tuple<TaskId, State, std::uint32_t, std::uint32_t, std::uint32_t>, PathShare>
        shares_;
};

std::vector<PathImbalance> imbalances_of(const History& history,
                                         const std::vector<PathShare>& shares) {
    using Key = std::pair<State, std::uint32_t>;
    std::map<Key, PathImbalance> found;
    for (const PathShare& share : shares) {
        PathImbalance& row = found[{share.state, share.region}];
        row.state = share.state;
        row.region = share.region;
        row.on_path += share.time;
    }
    std::map<Key, Time> sums;
    Time::rep tasks = 0;
    for (const LongVector<Activity>& all : history.tasks) {
        if (all.empty()) continue;
        ++tasks;
        for (std::size_t at = 0; at + 1 < all.size(); ++at)
            sums[{all[at].state, all[at].region}] += all[at + 1].from - all[at].from;
    }
    std::vector<PathImbalance> rows;
    for (auto& [key, row] : found) {
        if (const auto sum = sums.find(key); sum != sums.end()) row.mean = sum->second / tasks;
        rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const PathImbalance& a, const PathImbalance& b) {
        return a.excess() > b.excess();
    });
    return rows;
}

}  // namespace

Time CriticalPath::length() const {
    Time sum{0};
    for (const PathPart& part : parts) sum += part.to - part.from;
    return sum;
}

CriticalPath find_critical_path(const History& history) {
    CriticalPath path;
    path.parts = walk_back(history);
    std::reverse(path.parts.begin(), path.parts.end());
    Profile profile(history);
    for (const PathPart& part : path.parts) profile.add(part);
    path.shares = profile.shares();
    path.by_task = PerTask<Time>(history.tasks.size(), Time{0});
    for (const PathShare& share : path.shares) path.by_task[share.task] += share.time;
    path.imbalances = imbalances_of(history, path.shares);
    return path;
}

}  // namespace poe::trace
