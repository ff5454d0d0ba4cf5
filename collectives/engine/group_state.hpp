// GroupState: what the executor keeps with a group between calls: its plans, and the paths for
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
    // Null until the first call that could use it. It then reports whether there is shared memory.
    std::unique_ptr<ShmCollectives> local;
    // Null until the first call that could use it, and if `local` has no memory.
    std::unique_ptr<SingleCopyCalls> direct;
    // Null until the first call that could use it, in a job on several nodes.
    std::unique_ptr<CallPath> levels;
};

// Returns the state of a group; creates it at the first call. The group owns it.
inline GroupState& state_of(Group& group) {
    if (group.owned == nullptr) [[unlikely]]
        group.owned = std::make_unique<GroupState>();
    return static_cast<GroupState&>(*group.owned);
}

}  // namespace poe::collectives
