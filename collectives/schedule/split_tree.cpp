// Walks down a tree of splits; see split_tree.hpp.
#include "collectives/schedule/split_tree.hpp"

#include <algorithm>

namespace poe::collectives {

TreePlace place_in_tree(const SplitRule& split, std::uint32_t n, std::uint32_t root,
                        std::uint32_t member) {
    TreePlace place;
    std::uint32_t first = 0;
    std::uint32_t count = n;
    std::uint32_t leader = root;
    for (int depth = 0; count > 1; ++depth) {
        const std::uint32_t kept = split(count);
        // The leader's part is the front one if the leader is in it, otherwise the back one.
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
    // The number of groups of each size after the splits so far. There are few sizes, whatever n
    // is.
    struct Groups {
        std::uint32_t size;
        std::uint64_t many;
    };
    TreeDepth sum;
    std::vector<Groups> groups{{n, 1}};
    std::vector<Groups> next;
    const auto add = [&](std::uint32_t size, std::uint64_t many) {
        const auto same = std::find_if(next.begin(), next.end(),
                                       [&](const Groups& each) { return each.size == size; });
        if (same != next.end()) {
            same->many += many;
        } else if (size > 1) {
            next.push_back({size, many});
        }
    };
    for (; n > 1 && !groups.empty(); std::swap(groups, next)) {
        next.clear();
        std::uint32_t largest = 0;
        for (const auto& [size, many] : groups) {
            const std::uint32_t kept = split(size);
            add(kept, many);
            add(size - kept, many);
            largest = std::max(largest, size - kept);
            sum.all_subtrees += many * (size - kept);
        }
        ++sum.rounds;
        sum.largest_subtrees += largest;
    }
    return sum;
}

}  // namespace poe::collectives
