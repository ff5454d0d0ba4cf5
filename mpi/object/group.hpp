// Group: an ordered set of tasks (MPI 5.0, section 7.3). Pure: the operations work on arrays of
// task ids.
//
// Groups and communicators share the array, which never changes, so that copying a group costs
// nothing.
#pragma once

#include <memory>
#include <mpi.h>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

// The members of a group: a rank is an index.
class Members {
  public:
    // `session`: the number of the session that the group was derived from; 0: the world model.
    explicit Members(std::vector<TaskId> tasks, int session = 0);

    int size() const noexcept { return static_cast<int>(tasks_.size()); }
    std::span<const TaskId> tasks() const noexcept { return tasks_; }
    // Precondition: 0 <= rank < size().
    TaskId task(int rank) const noexcept { return tasks_[static_cast<std::size_t>(rank)]; }
    // The rank of the task, or MPI_UNDEFINED. Takes logarithmic time, constant time if the members
    // are consecutive tasks.
    int rank_of(TaskId task) const noexcept;
    // Groups and communicators that are made from others belong to the session of the first one.
    int session() const noexcept { return session_; }

  private:
    std::vector<TaskId> tasks_;
    bool consecutive_ = true;
    int session_ = 0;
    std::vector<int> by_task_;  // the ranks in the order of their tasks; empty if consecutive
};

using MembersPtr = std::shared_ptr<const Members>;

struct Group : Object {
    MembersPtr members;

    void reset() noexcept { members.reset(); }
};

// The result of an operation: members, or the reason why there are none.
struct GroupResult {
    MembersPtr members;
    Fault fault;
};

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const Members& one, const Members& two);

MembersPtr unite(const MembersPtr& one, const Members& two);
MembersPtr intersect(const MembersPtr& one, const Members& two);
MembersPtr subtract(const MembersPtr& one, const Members& two);

// The members with these ranks in this order, and all others in their old order. Refused: a rank
// that the group does not have, and the same rank twice.
GroupResult include(const MembersPtr& group, std::span<const int> ranks);
GroupResult exclude(const MembersPtr& group, std::span<const int> ranks);

// The ranks that triplets of first rank, last rank and stride stand for.
struct RanksResult {
    std::vector<int> ranks;
    Fault fault;
};
RanksResult expand_ranges(const Members& group, std::span<const int[3]> ranges);

// The ranks in `to` of members of `from`; MPI_UNDEFINED for those that are no members of `to`.
// MPI_PROC_NULL stays. The arrays must have equal sizes.
Fault translate(const Members& from, std::span<const int> ranks, const Members& to,
                std::span<int> translated);

}  // namespace poe::mpi
