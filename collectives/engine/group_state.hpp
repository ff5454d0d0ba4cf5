// GroupState: what the engine keeps with a group between calls: its plans, and what paths without
// messages need.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/call/groups.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/shm/exchange_block.hpp"
#include "collectives/shm/shm_group.hpp"
#include "collectives/shm/single_copy_calls.hpp"

namespace poe::collectives {

struct GroupState final : GroupOwned {
    Plans plans;
    // The node of each member, in the form of Shape::nodes; empty until it is asked for.
    std::optional<std::vector<std::uint32_t>> nodes;
    // Null until the first call that could use it. Its available() is false if there is no shared
    // memory.
    std::unique_ptr<ShmGroup> memory;
    // Null until the first call that could use it, and if there is no shared memory.
    std::unique_ptr<SingleCopyCalls> single_copy;
    // HierarchicalCalls; null until the first call that could use it.
    std::unique_ptr<GroupOwned> hierarchical;
    // MulticastCalls; null until the first call that could use it.
    std::unique_ptr<GroupOwned> multicast;
    // What the members have found out about the network, in microseconds per byte; 0: they could
    // not tell. The same at all members. Empty until MulticastCalls has found it out, and if
    // multicast is refused.
    std::optional<double> time_of_byte;
    // Irregular indexes in shared memory (irregular_calls.hpp): the longest block of the last call,
    // which is the same at all members; and memory for the blocks of a call.
    Bytes longest_block = 0;
    std::vector<ExchangeBlock> blocks;
};

// Returns the state of a group; creates it at the first call. The group owns it.
inline GroupState& state_of(Group& group) {
    if (group.owned == nullptr) [[unlikely]]
        group.owned = std::make_unique<GroupState>();
    return static_cast<GroupState&>(*group.owned);
}

}  // namespace poe::collectives
