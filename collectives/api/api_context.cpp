// The errors of collective calls; see api_context.hpp.
#include "collectives/api/api_context.hpp"

namespace poe::collectives {

using comm::MplError;

[[gnu::cold]] int refuse_unready(const comm::ApiCall& call, const CollectiveContext& library) {
    return call.refuse(MplError::kQuery, library.failure(), "");
}

[[gnu::cold]] void refuse_group(const comm::ApiCall& call, int gid) {
    call.refuse(MplError::kGroup,
                "there is no group " + std::to_string(gid) + " that this task is a member of",
                "give ALLGRP (0), the group of all tasks, or what mpc_group or mpc_partition "
                "has given");
}

int refuse_outcome(const comm::ApiCall& call, const Plan& plan) {
    return refuse_outcome(call, {plan.outcome(), plan.culprit(), plan.came(), plan.expected()});
}

int refuse_outcome(const comm::ApiCall& call, const ExchangeEnd& end) {
    if (end.outcome != comm::Outcome::kDone) return call.refuse(end.outcome, end.culprit);
    if (end.came == end.expected) return 0;
    return call.refuse(MplError::kDisagreement,
                       "task " + std::to_string(end.culprit) + " has sent " +
                           std::to_string(end.came) + " bytes where " +
                           std::to_string(end.expected) +
                           " were expected: it has made another call, or the same with another "
                           "length or root",
                       "run with MP_EUIDEVELOP=yes to learn who calls what");
}

}  // namespace poe::collectives
