// Making and querying groups; see mpproto.h.
#include <algorithm>

#include "collectives/api/api.hpp"
#include "collectives/api/api_context.hpp"
#include "collectives/engine/call_checker.hpp"
#include "collectives/engine/group_making.hpp"
#include "comm/api/api_checks.hpp"

namespace poe::collectives {
namespace {

using comm::ApiCall;
using comm::Caller;
using comm::MplError;

// Stores the number of a new group in *gid, or reports why there is none.
int hand_out(const ApiCall& call, const Made& made, int* gid) {
    if (made.wrong != nullptr) return refuse_outcome(call, *made.wrong);
    if (made.groups.empty())
        return call.refuse(MplError::kGroup, "there are no more numbers for groups", "");
    *gid = made.groups.front()->gid;
    return 0;
}

int refuse_list(const ApiCall& call, int gsize, const int* glist) {
    const comm::Runtime& runtime = call.runtime();
    if (gsize < 1)
        return call.refuse(MplError::kMember, "the size of the group is " + std::to_string(gsize),
                           "a group has at least one member");
    if (glist == nullptr) return comm::refuse_null(call, "glist", "gsize ints");
    if (static_cast<std::uint32_t>(gsize) > runtime.tasks())
        return call.refuse(MplError::kMember,
                           "a group of " + std::to_string(gsize) + " has more members than the " +
                               std::to_string(runtime.tasks()) + " tasks",
                           "name each member once");
    std::vector<int> sorted(glist, glist + gsize);
    for (const int task : sorted) {
        if (!comm::is_task(runtime, task))
            return call.refuse(MplError::kMember, "there is no task " + std::to_string(task),
                               comm::task_range(runtime));
    }
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        return call.refuse(MplError::kMember,
                           "task " + std::to_string(*twice) + " is in the list twice",
                           "name each member once");
    if (!std::binary_search(sorted.begin(), sorted.end(), runtime.task()))
        return call.refuse(MplError::kMember, "this task is not in the list",
                           "only members call mpc_group");
    return 0;
}

// Queries a group, after checking that it exists and that there is room for the answer.
template <typename Ask>
int ask(const Caller& name, int gid, const void* answer, const char* argument, Ask&& work) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        if (answer == nullptr) return comm::refuse_null(call, argument, "an int");
        const Group* group = group_of(call, library, gid);
        return group != nullptr ? work(call, *group) : -1;
    });
}

}  // namespace

int api_group(const Caller& name, int gsize, const int* glist, int label, int* gid) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        const int refused = gid == nullptr ? comm::refuse_null(call, "gid", "an int")
                                           : refuse_list(call, gsize, glist);
        if (refused != 0) return tell_of_refused_list(library, gsize, glist, refused);
        call.doing(Call::kGroup, TaskActivity::kAnyPeer, 0, 0);
        std::vector<TaskId> list(glist, glist + gsize);
        if (const int other = refuse_other_list(call, library, name, list)) return other;
        return hand_out(call, make_group(library, std::move(list), label), gid);
    });
}

int api_partition(const Caller& name, int parent, int key, int label, int* gid) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        Group* group = group_of(call, library, parent);
        if (group == nullptr) return -1;
        if (gid == nullptr)
            return tell_of_refused_making(library, *group, name,
                                          comm::refuse_null(call, "gid", "an int"));
        call.doing(Call::kPartition, TaskActivity::kAnyPeer, parent, 0);
        if (const int refused = refuse_other_making(call, library, *group, name)) return refused;
        return hand_out(call, partition(library, *group, key, label), gid);
    });
}

int api_freegroup(const Caller& name, int gid) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        const Group* group = group_of(call, library, gid);
        if (group == nullptr) return -1;
        if (gid == 0)
            return call.refuse(MplError::kGroup, "the group of all tasks cannot be freed", "");
        if (library.in_use(*group))
            return call.refuse(MplError::kGroup,
                               "a call on group " + std::to_string(gid) + " is under way",
                               "wait for it with mpc_collwait first");
        library.groups().remove(gid);
        return 0;
    });
}

int api_getsize(const Caller& name, int* gsize, int gid) {
    return ask(name, gid, gsize, "gsize", [&](ApiCall&, const Group& group) {
        *gsize = static_cast<int>(group.size());
        return 0;
    });
}

int api_getmembers(const Caller& name, int* glist, int gid) {
    return ask(name, gid, glist, "glist", [&](ApiCall&, const Group& group) {
        std::copy(group.members.begin(), group.members.end(), glist);
        return 0;
    });
}

int api_getrank(const Caller& name, int* rank, int taskid, int gid) {
    return ask(name, gid, rank, "rank", [&](ApiCall& call, const Group& group) {
        const Rank found = group.rank_of(taskid);
        if (found == Group::kNoRank)
            return call.refuse(MplError::kMember,
                               "task " + std::to_string(taskid) + " is not a member of group " +
                                   std::to_string(gid),
                               "mpc_getmembers tells the members");
        *rank = found;
        return 0;
    });
}

int api_gettaskid(const Caller& name, int rank, int* taskid, int gid) {
    return ask(name, gid, taskid, "taskid", [&](ApiCall& call, const Group& group) {
        if (rank < 0 || static_cast<std::uint32_t>(rank) >= group.size())
            return call.refuse(
                MplError::kMember,
                "group " + std::to_string(gid) + " has no rank " + std::to_string(rank),
                "ranks are 0 to " + std::to_string(group.size() - 1));
        *taskid = group.members[static_cast<std::size_t>(rank)];
        return 0;
    });
}

int api_getlabel(const Caller& name, int* label, int gid) {
    return ask(name, gid, label, "label", [&](ApiCall&, const Group& group) {
        *label = group.label;
        return 0;
    });
}

}  // namespace poe::collectives
