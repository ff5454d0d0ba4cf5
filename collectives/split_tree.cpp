// Walking down a tree of splits; see split_tree.hpp.
#include "collectives/split_tree.hpp"

#include <algorithm>
#include <map>

namespace poe::collectives {

TreePlace place_in_tree(const SplitRule& split, std::uint32_t n, std::uint32_t root,
                        std::uint32_t member) {
    TreePlace place;
    std::uint32_t first = 0;
    std::uint32_t count = n;
    std::uint32_t leader = root;
    for (int depth = 0; count > 1; ++depth) {
        const std::uint32_t kept = split(count);
        // The leader's part is the front one if it reaches that far, else the back one.
        const bool front = leader < first + kept;
        const std::uint32_t kept_first = front ? first : first + count - kept;
        const std::uint32_t other_first = front ? first + kept : first;
        const std::uint32_t other_count = count - kept;
        const bool in_other = member >= other_first && member < other_first + other_count;
        if (member == leader) {
            place.children.push_back({other_first, other_first, other_count, depth});
        }
        if (in_other) {
            if (member == other_first) {
                place.is_root = false;
                place.parent = {leader, other_first, other_count, depth};
            }
            leader = other_first;
        }
        first = in_other ? other_first : kept_first;
        count = in_other ? other_count : kept;
    }
    return place;
}

TreeDepth tree_depth(const SplitRule& split, std::uint32_t n) {
    TreeDepth sum;
    // How many groups of each size there are after so many splits: few sizes, whatever n.
    std::map<std::uint32_t, std::uint64_t> groups{{n, 1}};
    while (groups.rbegin()->first > 1) {
        std::map<std::uint32_t, std::uint64_t> next;
        std::uint32_t largest = 0;
        for (const auto& [size, many] : groups) {
            if (size == 1) continue;
            const std::uint32_t kept = split(size);
            next[kept] += many;
            next[size - kept] += many;
            largest = std::max(largest, size - kept);
            sum.all_subtrees += many * (size - kept);
        }
        ++sum.rounds;
        sum.largest_subtrees += largest;
        groups = std::move(next);
    }
    return sum;
}

}  // namespace poe::collectives
