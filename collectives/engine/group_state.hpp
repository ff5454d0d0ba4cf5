// GroupState: what the executor keeps with a group from one call to the next: its plans, and the ways to make
// calls without messages.
#pragma once

#include <memory>

#include "collectives/call/groups.hpp"
#include "collectives/engine/call_path.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/shm/shm_collectives.hpp"
#include "collectives/shm/single_copy_calls.hpp"

namespace poe::collectives {

struct GroupState final : GroupOwned {
    Plans plans;
    // Null until the first call that could use it; then it says whether there is any.
    std::unique_ptr<ShmCollectives> local;
    // Null until the first call that could use it, and where `local` has no memory.
    std::unique_ptr<SingleCopyCalls> direct;
    // Null until the first call on a job of several nodes that could use it.
    std::unique_ptr<CallPath> levels;
};

// That of a group, made when it is first asked for.
inline GroupState& state_of(Group& group) {
    if (group.owned == nullptr) [[unlikely]]
        group.owned = std::make_unique<GroupState>();
    return static_cast<GroupState&>(*group.owned);
}

}  // namespace poe::collectives
