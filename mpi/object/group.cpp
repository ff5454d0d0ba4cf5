// The operations on groups.
#include "mpi/object/group.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace poe::mpi {
namespace {

MembersPtr make_members(std::vector<TaskId> tasks, const Members& origin) {
    return std::make_shared<const Members>(std::move(tasks), origin.session());
}

Fault check_rank(const Members& group, int rank, const char* argument) {
    if (rank >= 0 && rank < group.size()) return {};
    return {MPI_ERR_RANK, argument,
            "rank " + std::to_string(rank) + " is not in the group, which has " +
                std::to_string(group.size()) + " members",
            group.size() == 0 ? "the group is empty"
                              : "use ranks from 0 to " + std::to_string(group.size() - 1)};
}

// Marks the ranks; refuses invalid ones and the same rank twice.
Fault mark(const Members& group, std::span<const int> ranks, std::vector<bool>& marked) {
    marked.assign(static_cast<std::size_t>(group.size()), false);
    for (const int rank : ranks) {
        if (Fault fault = check_rank(group, rank, "ranks")) return fault;
        const auto index = static_cast<std::size_t>(rank);
        if (marked[index]) {
            return {MPI_ERR_RANK, "ranks", "rank " + std::to_string(rank) + " is named twice",
                    "name each rank once"};
        }
        marked[index] = true;
    }
    return {};
}

}  // namespace

Members::Members(std::vector<TaskId> tasks, int session)
    : tasks_(std::move(tasks)), session_(session) {
    for (std::size_t i = 1; i < tasks_.size(); ++i) {
        if (tasks_[i] != tasks_[i - 1] + 1) consecutive_ = false;
    }
    if (consecutive_) return;
    by_task_.resize(tasks_.size());
    std::iota(by_task_.begin(), by_task_.end(), 0);
    std::ranges::sort(by_task_, {}, [&](int rank) { return this->task(rank); });
}

int Members::rank_of(TaskId task) const noexcept {
    if (tasks_.empty()) return MPI_UNDEFINED;
    if (consecutive_) {
        const auto rank = std::int64_t{task} - tasks_.front();
        return rank >= 0 && rank < size() ? static_cast<int>(rank) : MPI_UNDEFINED;
    }
    const auto found =
        std::ranges::lower_bound(by_task_, task, {}, [&](int rank) { return this->task(rank); });
    return found != by_task_.end() && this->task(*found) == task ? *found : MPI_UNDEFINED;
}

int compare(const Members& one, const Members& two) {
    if (one.size() != two.size()) return MPI_UNEQUAL;
    if (std::ranges::equal(one.tasks(), two.tasks())) return MPI_IDENT;
    const bool similar = std::ranges::all_of(
        one.tasks(), [&](TaskId task) { return two.rank_of(task) != MPI_UNDEFINED; });
    return similar ? MPI_SIMILAR : MPI_UNEQUAL;
}

MembersPtr unite(const MembersPtr& one, const Members& two) {
    std::vector<TaskId> tasks(one->tasks().begin(), one->tasks().end());
    for (const TaskId task : two.tasks()) {
        if (one->rank_of(task) == MPI_UNDEFINED) tasks.push_back(task);
    }
    return tasks.size() == one->tasks().size() ? one : make_members(std::move(tasks), *one);
}

MembersPtr intersect(const MembersPtr& one, const Members& two) {
    std::vector<TaskId> tasks;
    for (const TaskId task : one->tasks()) {
        if (two.rank_of(task) != MPI_UNDEFINED) tasks.push_back(task);
    }
    return make_members(std::move(tasks), *one);
}

MembersPtr subtract(const MembersPtr& one, const Members& two) {
    std::vector<TaskId> tasks;
    for (const TaskId task : one->tasks()) {
        if (two.rank_of(task) == MPI_UNDEFINED) tasks.push_back(task);
    }
    return make_members(std::move(tasks), *one);
}

GroupResult include(const MembersPtr& group, std::span<const int> ranks) {
    std::vector<bool> marked;
    if (Fault fault = mark(*group, ranks, marked)) return {nullptr, std::move(fault)};
    std::vector<TaskId> tasks;
    tasks.reserve(ranks.size());
    for (const int rank : ranks) tasks.push_back(group->task(rank));
    return {make_members(std::move(tasks), *group), {}};
}

GroupResult exclude(const MembersPtr& group, std::span<const int> ranks) {
    std::vector<bool> marked;
    if (Fault fault = mark(*group, ranks, marked)) return {nullptr, std::move(fault)};
    if (ranks.empty()) return {group, {}};
    std::vector<TaskId> tasks;
    for (int rank = 0; rank < group->size(); ++rank) {
        if (!marked[static_cast<std::size_t>(rank)]) tasks.push_back(group->task(rank));
    }
    return {make_members(std::move(tasks), *group), {}};
}

RanksResult expand_ranges(const Members& group, std::span<const int[3]> ranges) {
    std::vector<int> ranks;
    for (const auto& [first, last, stride] : ranges) {
        if (stride == 0) {
            return {{}, {MPI_ERR_ARG, "ranges", "the stride of a range is 0", "use another"}};
        }
        if ((last > first && stride < 0) || (last < first && stride > 0)) {
            return {{},
                    {MPI_ERR_ARG, "ranges",
                     "the range from rank " + std::to_string(first) + " to " +
                         std::to_string(last) + " has a stride of " + std::to_string(stride),
                     "use a stride that leads from the first rank to the last"}};
        }
        if (Fault fault = check_rank(group, first, "ranges")) return {{}, std::move(fault)};
        // The last rank that the range contains must be valid, the end of the range need not.
        const std::int64_t steps = (std::int64_t{last} - first) / stride;
        const auto final = std::clamp<std::int64_t>(first + steps * stride, -1, group.size());
        if (Fault fault = check_rank(group, static_cast<int>(final), "ranges")) {
            return {{}, std::move(fault)};
        }
        for (std::int64_t step = 0; step <= steps; ++step) {
            ranks.push_back(static_cast<int>(first + step * stride));
        }
        if (ranks.size() > static_cast<std::size_t>(group.size())) {
            return {{}, {MPI_ERR_RANK, "ranges", "a rank is named twice", "name each rank once"}};
        }
    }
    return {std::move(ranks), {}};
}

Fault translate(const Members& from, std::span<const int> ranks, const Members& to,
                std::span<int> translated) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] == MPI_PROC_NULL) {
            translated[i] = MPI_PROC_NULL;
            continue;
        }
        if (Fault fault = check_rank(from, ranks[i], "ranks1")) return fault;
        translated[i] = to.rank_of(from.task(ranks[i]));
    }
    return {};
}

}  // namespace poe::mpi
