// The tree along which the members of a multicast report to the root: every member has at most
// kReportFan children. Ranks are counted from the root on. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::comm {

inline constexpr std::uint32_t kReportFan = 4;

// Precondition, for both: root and rank are below `members`.
inline std::vector<std::uint32_t> report_children(std::uint32_t members, std::uint32_t root,
                                                  std::uint32_t rank) {
    const std::uint32_t place = (rank + members - root) % members;
    std::vector<std::uint32_t> children;
    for (std::uint64_t i = 1; i <= kReportFan; ++i) {
        const std::uint64_t child = std::uint64_t{kReportFan} * place + i;
        if (child < members)
            children.push_back(static_cast<std::uint32_t>((child + root) % members));
    }
    return children;
}

// Precondition: rank is not the root.
inline std::uint32_t report_parent(std::uint32_t members, std::uint32_t root,
                                   std::uint32_t rank) noexcept {
    const std::uint32_t place = (rank + members - root) % members;
    return ((place - 1) / kReportFan + root) % members;
}

// The number of levels below the root.
inline std::uint32_t report_depth(std::uint32_t members) noexcept {
    std::uint32_t depth = 0;
    for (std::uint64_t reached = 1, level = 1; reached < members; ++depth) {
        level *= kReportFan;
        reached += level;
    }
    return depth;
}

}  // namespace poe::comm
