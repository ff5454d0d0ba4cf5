// The tree of every fan-out and fan-in. A group of ranks that are adjacent in rank order is
// repeatedly split into two such groups. The rank that leads the group sends to the rank that leads
// the part split off. Every subtree is an interval of ranks. Therefore a fan-in along the tree
// reduces in rank order for every root, and a scatter sends contiguous memory. This is the
// recursive formulation of both the binomial and the lambda tree (2.4 of Bruck et al. 1996).
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule/postal.hpp"
#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// The ranks that a building block of an algorithm works on: first, first + stride, and so on.
// Members are counted from 0.
struct Members {
    std::uint32_t count = 1;
    std::uint32_t first = 0;
    std::uint32_t stride = 1;

    Rank rank(std::uint32_t member) const noexcept {
        return static_cast<Rank>(first + member * stride);
    }
};

// An edge of the tree and the subtree below it.
struct Branch {
    std::uint32_t member = 0;  // the member at the other end
    std::uint32_t first = 0;   // the members below the edge: first .. first + count - 1
    std::uint32_t count = 0;
    int depth = 0;  // number of earlier splits: the round of a fan-out
};

// The place of a member in the tree.
struct TreePlace {
    bool is_root = true;
    Branch parent;                 // for all but the root; first and count are the own subtree
    std::vector<Branch> children;  // in the order in which a fan-out sends
};

// Costs O(depth of the tree). Preconditions: n >= 1; root and member are below n.
TreePlace place_in_tree(const SplitRule& split, std::uint32_t n, std::uint32_t root,
                        std::uint32_t member);

// The number of rounds of a fan-out or fan-in with this rule, and the sum over the rounds of the
// largest subtree that is sent to.
struct TreeDepth {
    int rounds = 0;
    std::uint64_t largest_subtrees = 0;
    std::uint64_t all_subtrees = 0;  // the sum of the sizes of all subtrees except the whole tree
};
TreeDepth tree_depth(const SplitRule& split, std::uint32_t n);

}  // namespace poe::collectives
