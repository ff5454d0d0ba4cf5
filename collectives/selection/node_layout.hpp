// NodeLayout: which ranks of a group are on which node, and which rank leads each node. It is made
// once per shape; the two-level schedules of all ranks use it.
#pragma once

#include <vector>

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

struct NodeLayout {
    // Precondition: shape.nodes is not empty. If the operation has a root, the root leads its node.
    // Every other node is led by its first rank.
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
    bool in_order = true;                    // the ranks of each node follow those of the previous
                                             // node
};

}  // namespace poe::collectives
