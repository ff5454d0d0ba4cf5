// Launch trees of all small sizes: every node is below exactly one other.
#include "partition_manager/launch/launch_tree.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using poe::NodeIndex;
using poe::pm::LaunchTree;

TEST_CASE("every node has one place in the tree", "[launch_tree]") {
    for (NodeIndex nodes = 1; nodes <= 40; ++nodes) {
        for (const std::uint32_t fanout : {1u, 2u, 3u, 16u, 1000u}) {
            for (NodeIndex home = -1; home < nodes; ++home) {
                const LaunchTree tree(nodes, fanout, home);
                std::vector<NodeIndex> seen = tree.below(LaunchTree::kRoot);
                for (std::size_t i = 0; i < seen.size(); ++i) {
                    const std::vector<NodeIndex> below = tree.below(seen[i]);
                    REQUIRE(below.size() <= fanout);
                    for (const NodeIndex one : below) {
                        REQUIRE(tree.above(one) == seen[i]);
                        REQUIRE(tree.height(one) < tree.height(seen[i]));
                    }
                    seen.insert(seen.end(), below.begin(), below.end());
                }
                std::sort(seen.begin(), seen.end());
                REQUIRE(seen.size() == static_cast<std::size_t>(nodes));
                REQUIRE(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
                if (home >= 0) REQUIRE(tree.above(home) == LaunchTree::kRoot);
            }
        }
    }
}

TEST_CASE("a thousand nodes are three rounds of sixteen", "[launch_tree]") {
    const LaunchTree tree(1000, 16, -1);
    int rounds = 0;
    for (const NodeIndex node : tree.below(LaunchTree::kRoot))
        rounds = std::max(rounds, tree.height(node));
    CHECK(rounds == 3);
    CHECK(tree.below(LaunchTree::kRoot).size() == 16);
    CHECK(LaunchTree(1000000, 16, -1).above(999999) == 62498);
}
