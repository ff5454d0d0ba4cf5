// Task groups; see groups.hpp.
#include "collectives/call/groups.hpp"

#include <algorithm>
#include <numeric>

namespace poe::collectives {

Group::Group(int number, int its_label, std::vector<TaskId> tasks, TaskId own)
    : gid(number), label(its_label), members(std::move(tasks)), me(0) {
    bool in_order = true;
    for (std::size_t r = 0; r < members.size(); ++r)
        in_order = in_order && members[r] == static_cast<TaskId>(r);
    if (!in_order) {
        for (std::size_t r = 0; r < members.size(); ++r)
            by_task.emplace_back(members[r], static_cast<Rank>(r));
        std::sort(by_task.begin(), by_task.end());
    }
    me = std::max(rank_of(own), Rank{0});
}

Rank Group::find_rank_of(TaskId task) const noexcept {
    const auto at = std::lower_bound(by_task.begin(), by_task.end(), std::pair{task, Rank{0}});
    if (at == by_task.end() || at->first != task) return kNoRank;
    return at->second;
}

Groups::Groups(std::uint32_t tasks, TaskId own) : tasks_(tasks), task_(own) {
    std::vector<TaskId> all(tasks);
    std::iota(all.begin(), all.end(), 0);
    add(0, 0, std::move(all));
}

Group* Groups::search(int gid) noexcept {
    const auto at = groups_.find(gid);
    last_found_ = at != groups_.end() ? at->second.get() : nullptr;
    return last_found_;
}

Group& Groups::add(int gid, int label, std::vector<TaskId> members) {
    last_found_ = nullptr;
    auto& group = groups_[gid];
    group = std::make_unique<Group>(gid, label, std::move(members), task_);
    return *group;
}

std::optional<int> Groups::number(TaskId leader, std::uint32_t leaders_counter) const noexcept {
    const std::uint64_t number =
        std::uint64_t{leaders_counter} * tasks_ + static_cast<std::uint64_t>(leader);
    if (number >= static_cast<std::uint64_t>(kFirstSharedNumber)) return std::nullopt;
    return static_cast<int>(number);
}

}  // namespace poe::collectives
