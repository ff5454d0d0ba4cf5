// The making of groups: the exchange that the members need for it, and nothing more. A group's
// number depends on the counter of the task that leads it (groups.hpp), so the counters travel with
// the data that the members must exchange anyway.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/engine/collective_context.hpp"

namespace poe::collectives {

// How the members of a group are divided into new groups; both vectors are indexed by rank. The
// members with one label become a group, ranked by key; members with equal keys are ranked by their
// old rank.
struct SplitPlan {
    std::vector<std::int32_t> labels;
    std::vector<std::int32_t> keys;
};

// The result of making groups. `wrong` is null, or the plan that failed.
struct Made {
    std::vector<Group*> groups;  // the own one of each plan; empty if numbers ran out
    Plan* wrong = nullptr;
};

// Makes a group of the tasks in `list`. All of them call it with the same list, which names no task
// twice; other tasks do not call it. Blocks, but is not a barrier.
Made make_group(CollectiveContext& library, std::vector<TaskId> list, int label);

// Divides `parent` into groups by the key and label of each member. All members call it. Blocks
// until all have called it.
Made partition(CollectiveContext& library, Group& parent, int key, int label);

// The same for several plans, with one exchange for all of them. All members pass the same plans.
Made split_group(CollectiveContext& library, Group& parent,
                 const std::vector<SplitPlan>& colourings);

// The groups that split_group would make, with unique numbers, but not registered.
struct NewGroup {
    int gid = 0;
    int label = 0;
    std::vector<TaskId> members;
};
struct Numbered {
    std::vector<NewGroup> groups;
    Plan* wrong = nullptr;
};
Numbered number_coloured(CollectiveContext& library, Group& parent,
                         const std::vector<SplitPlan>& colourings);

}  // namespace poe::collectives
