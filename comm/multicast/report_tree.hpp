// The tree along which the members of a multicast report to the root: every member has at most
// kReportFan children. Ranks are counted from the root on. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace poe::comm {

inline constexpr std::uint32_t kReportFan = 4;

// The ranks of a member's children.
struct ReportChildren {
    std::array<std::uint32_t, kReportFan> ranks{};
    std::uint32_t count = 0;
    std::uint32_t size() const noexcept { return count; }
    const std::uint32_t* begin() const noexcept { return ranks.data(); }
    const std::uint32_t* end() const noexcept { return ranks.data() + count; }
};

// Precondition, for both: root and rank are below `members`.
inline ReportChildren report_children(std::uint32_t members, std::uint32_t root,
                                      std::uint32_t rank) noexcept {
    const std::uint32_t place = (rank + members - root) % members;
    ReportChildren children;
    for (std::uint64_t i = 1; i <= kReportFan; ++i) {
        const std::uint64_t child = std::uint64_t{kReportFan} * place + i;
        if (child < members)
            children.ranks[children.count++] = static_cast<std::uint32_t>((child + root) % members);
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
