// Develop mode's check that all members of a group make the same call (CCL paper, III.D).
#pragma once

#include <string>

#include "collectives/engine/collective_context.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {

// Compares a call with those of the other members. 0: all agree; else says who calls what ("task 4
// calls mpc_bcast with root 2, tasks 0-3,5-7 with root 0") and answers -1. `detail`: what else must
// be the same, in words. Blocking. Does not return when a member makes no call at all.
int check_same_call(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                    const CollectiveCall& call, const std::string& detail = {});
// In develop mode only: the same for a call that makes groups out of one.
int refuse_other_making(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                        const comm::Caller& name, const std::string& detail = {});

// In develop mode only: the same for mpc_group, whose members must give one list in one order, or
// they would have different ranks. `list` has no task twice, and this one among it.
int refuse_other_list(const comm::ApiCall& api, CollectiveContext& library,
                      const comm::Caller& name, const std::vector<TaskId>& list);

// "0-3,5-7" of sorted tasks, "2,0,1" of others.
std::string task_list(const std::vector<TaskId>& tasks);

}  // namespace poe::collectives
