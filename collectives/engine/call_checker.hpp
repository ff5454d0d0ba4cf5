// The check of develop mode that all members of a group make the same call (CCL paper, III.D).
#pragma once

#include <string>

#include "collectives/engine/collective_context.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {

// Compares a call with those of the other members. Returns 0 if all agree. Otherwise reports which
// tasks make which call ("task 4 calls mpc_bcast with root 2, tasks 0-3,5-7 with root 0") and
// returns -1. `detail` describes in words what else must be the same. Blocks; does not return if a
// member makes no call at all.
int check_same_call(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                    const CollectiveCall& call, const std::string& detail = {});
// For a member whose arguments were refused, and reported: takes part in the comparison, so that the
// others learn of it instead of waiting forever for its call. Blocks like check_same_call.
void tell_of_refusal(CollectiveContext& library, Group& group, const CollectiveCall& call);
// In develop mode only: the same check for a call that makes groups out of `group`.
int refuse_other_making(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                        const comm::Caller& name, const std::string& detail = {});

// In develop mode only: the same check for mpc_group. Its members must pass the same list in the
// same order, because otherwise their ranks would differ. `list` contains no task twice, and
// contains this task.
int refuse_other_list(const comm::ApiCall& api, CollectiveContext& library,
                      const comm::Caller& name, const std::vector<TaskId>& list);

// Returns "0-3,5-7" for sorted tasks, "2,0,1" for others.
std::string task_list(const std::vector<TaskId>& tasks);

}  // namespace poe::collectives
