// A measurement by some tasks of the job, as a group of their own, with the engine's internals.
#pragma once

#include <algorithm>
#include <vector>

#include "collectives/api/api_context.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {

// Calls work(context, group) in the tasks `members`, which have these ranks in the group. All tasks
// of the job call this with the same members, and wait for its end.
template <typename Work>
void in_group(const std::vector<int>& members, int me, Work&& work) {
    if (std::find(members.begin(), members.end(), me) != members.end()) {
        std::vector<int> given = members;
        int gid = 0;
        mpc_group(static_cast<int>(given.size()), given.data(), 1, &gid);
        in_call("mptune", [&](comm::ApiCall& call, CollectiveContext& library) {
            work(library, *group_of(call, library, gid));
            return 0;
        });
    }
    mpc_sync(ALLGRP);
}

}  // namespace poe::collectives
