// NodeLayout: which ranks of a group are on which node, and which rank leads each node. It is made
// once per shape; the two-level algorithms of all ranks use it.
#pragma once

#include <vector>

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// The rank that leads the node of a call's root. Every other node, and every node of a call without
// a root, is led by its first rank.
enum class Leaders : std::uint8_t {
    kRoots,   // the root
    kFirsts,  // its first rank, too: the leaders are the same in all calls
};

struct NodeLayout {
    // Precondition: shape.nodes is not empty.
    NodeLayout(const Shape& shape, Leaders leaders);

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
