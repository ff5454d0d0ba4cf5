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
// For a member whose arguments were refused, and reported: takes part in the comparison, so that
// the others learn of it instead of waiting forever for its call. Blocks like check_same_call.
void tell_of_refusal(CollectiveContext& library, Group& group, const CollectiveCall& call);
// In develop mode only: the same check for a call that makes groups out of `group`.
int refuse_other_making(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                        const comm::Caller& name, const std::string& detail = {});

// In develop mode only: the same check for mpc_group. Its members must pass the same list in the
// same order, because otherwise their ranks would differ. `list` contains no task twice, and
// contains this task. First the tasks of the list agree on it as a set (ListAgreement), because
// tasks with different sets cannot compare their calls as the members of one group.
int refuse_other_list(const comm::ApiCall& api, CollectiveContext& library,
                      const comm::Caller& name, const std::vector<TaskId>& list);
// In develop mode only: the same as tell_of_refusal for a call that makes groups out of `group`.
// Returns `refused`, the result of the call.
int tell_of_refused_making(CollectiveContext& library, Group& group, const comm::Caller& name,
                           int refused);
// The same for mpc_group: tells the tasks that the list names. Blocks until the messages have left.
int tell_of_refused_list(CollectiveContext& library, int gsize, const int* glist, int refused);

}  // namespace poe::collectives
