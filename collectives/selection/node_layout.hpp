// Which ranks of a group are on which node, and who leads each node. Made once for a shape; what
// each rank's schedule in two levels is written by.
#pragma once

#include <vector>

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

struct NodeLayout {
    // shape.nodes must not be empty. A node is led by the root if that is there and the operation
    // has one, else by its first rank.
    explicit NodeLayout(const Shape& shape);

    std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(members.size()); }
    std::uint32_t size(std::uint32_t node) const noexcept {
        return static_cast<std::uint32_t>(members[node].size());
    }
    Rank leader(std::uint32_t node) const noexcept { return members[node][leading[node]]; }
    std::uint32_t largest() const noexcept;

    std::vector<std::vector<Rank>> members;  // of each node, in rank order
    std::vector<std::uint32_t> member;       // of each rank: its number within its node
    std::vector<std::uint32_t> leading;      // of each node: the member that leads
    bool in_order = true;                    // nodes one after the other are ranks in order
};

}  // namespace poe::collectives
