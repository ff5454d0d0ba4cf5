// Making groups: what the members must tell each other for it, and nothing more. A group's number
// needs the counter of the task that leads it (groups.hpp), so the counters travel with whatever
// the members have to exchange anyway.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/engine/collective_context.hpp"

namespace poe::collectives {

// Into which new groups the members of a group fall, by rank: those of one label become a group,
// ranked by key, ties by rank.
struct SplitPlan {
    std::vector<std::int32_t> labels;
    std::vector<std::int32_t> keys;
};

// The result of making groups. `wrong` is null, or the plan that went wrong.
struct Made {
    std::vector<Group*> groups;  // the own one of each colouring; empty when numbers have run out
    Plan* wrong = nullptr;
};

// The members of `list` make a group of it. All call it with the same list, which has no task twice
// and this one among it; others do not. Not a barrier. Blocking.
Made make_group(CollectiveContext& library, std::vector<TaskId> list, int label);

// All members of `parent` fall into groups by what each gives. Barrier-like. Blocking.
Made partition(CollectiveContext& library, Group& parent, int key, int label);

// The same for several colourings at once that all members know: one exchange for all of them.
Made split_group(CollectiveContext& library, Group& parent,
                 const std::vector<SplitPlan>& colourings);

// What such groups would be: with numbers that no others have, but not yet made. `groups` as in
// Made.
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
