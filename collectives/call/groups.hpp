// Task groups: ordered sets of tasks with a number that is unique in the whole job (CCL paper, II).
// They are separate from the operations on them. Plain data. To make a group of several tasks needs
// messages; that is in engine/group_making.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// The base of what the executor keeps with a group (engine/group_state.hpp).
struct GroupOwned {
    virtual ~GroupOwned() = default;
};

// Thrown by a collective call in shared memory if a member has ended, in a job that goes on.
class MemberLost : public Error {
  public:
    explicit MemberLost(TaskId its_task)
        : Error("task " + std::to_string(its_task) + ", a member of this communicator, has ended"),
          task(its_task) {}
    TaskId task;
};

struct Group {
    Group(int number, int its_label, std::vector<TaskId> tasks, TaskId own);

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members.size()); }
    static constexpr Rank kNoRank = -1;
    // kNoRank if the task is no member. Costs O(log n) unless task r has rank r. The result is no
    // std::optional, because an optional is written in two parts and read as a whole, for which a
    // short call waits until its earlier stores have reached the cache.
    Rank rank_of(TaskId task) const noexcept {
        if (!by_task.empty()) return find_rank_of(task);
        return task < 0 || static_cast<std::size_t>(task) >= members.size() ? kNoRank : task;
    }

    int gid;
    int label;
    std::vector<TaskId> members;                   // by rank
    std::vector<std::pair<TaskId, Rank>> by_task;  // sorted; empty if task r has rank r
    Rank me;
    std::uint32_t sequence = 0;  // number of calls so far that needed messages
    std::uint32_t calls = 0;     // number of collective operations so far
    // A member that had ended when this task waited for it in shared memory; -1: none. The members
    // have then made different numbers of calls, so no further call can be made.
    TaskId lost_member = -1;
    std::unique_ptr<GroupOwned> owned;

  private:
    Rank find_rank_of(TaskId task) const noexcept;
};

// The groups of this task. A group's number is (counter, task): the task of rank 0 counts the
// groups that it has led. A member that gets this counter knows the number, so numbering needs no
// round of its own. For one thread at a time.
class Groups {
  public:
    // The group of all tasks exists from the beginning; its number is 0.
    Groups(std::uint32_t tasks, TaskId own);

    // Returns null if there is no such group. The group that was found last is found without a
    // search.
    Group* find(int gid) noexcept {
        return last_found_ != nullptr && last_found_->gid == gid ? last_found_ : search(gid);
    }
    Group& add(int gid, int label, std::vector<TaskId> members);
    // Deletes a group. Precondition: gid is not 0, the group of all tasks.
    void remove(int gid) noexcept {
        last_found_ = nullptr;
        groups_.erase(gid);
    }

    // This task's counter, for the next group that it leads.
    std::uint32_t counter() const noexcept { return counter_; }
    // Counts groups that this task leads, or may lead. Call it before the members exchange their
    // counters, because another thread may make a group meanwhile.
    void count(std::uint32_t groups = 1) noexcept { counter_ += groups; }
    // Undoes a part of count(groups): only the first `used` numbers from `counter`, the value
    // before it, were used. Does nothing if other groups were counted since.
    void uncount(std::uint32_t counter, std::uint32_t groups = 1, std::uint32_t used = 0) noexcept {
        if (counter_ == counter + groups) counter_ = counter + used;
    }
    // Returns the number of the group that `leader` leads when its counter has this value. Empty if
    // numbers have run out, after more than 60 million groups.
    std::optional<int> number(TaskId leader, std::uint32_t leaders_counter) const noexcept;

    std::size_t size() const noexcept { return groups_.size(); }
    TaskId task() const noexcept { return task_; }

  private:
    Group* search(int gid) noexcept;

    Group* last_found_ = nullptr;
    std::uint32_t tasks_;
    TaskId task_;
    std::uint32_t counter_ = 1;  // 0 is the group of all tasks
    std::unordered_map<int, std::unique_ptr<Group>> groups_;
};

// The message types of collective calls: the group's number, and the call's number modulo 16, so
// that up to 16 calls on a group can be under way at once. Group numbers are below kGroupNumbers.
// The next two numbers stand for the making of groups and for the checks of develop mode.
inline constexpr int kCallsAtOnce = 16;
inline constexpr int kGroupNumbers = (1 << 27) - 2;
// Numbers from here on are for groups of tasks of several jobs, which agree on a number by
// messages.
inline constexpr int kFirstSharedNumber = 1 << 26;
inline constexpr std::int32_t kMakingGroups = kGroupNumbers * kCallsAtOnce;
inline constexpr std::int32_t kChecking = (kGroupNumbers + 1) * kCallsAtOnce;
inline constexpr std::int32_t kListChecking = kChecking + 1;
inline std::int32_t message_type(const Group& group, std::uint32_t sequence) noexcept {
    return group.gid * kCallsAtOnce +
           static_cast<std::int32_t>(sequence % static_cast<std::uint32_t>(kCallsAtOnce));
}

}  // namespace poe::collectives
