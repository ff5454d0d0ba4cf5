// How a blocking collective call is carried out, for watchers of the job and for traces: by which
// mechanism (collectives/engine/paths.cpp), and in which round of its schedule it is. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace poe {

// In the order of the table of paths.
enum class CollectivePath : std::uint8_t {
    kUnknown,
    kCacheLine,
    kPipelinedReduce,
    kShift,
    kGather,
    kFromRoot,
    kSwap,
    kArriveAndPublish,
    kPairwise,
    kCopyInOut,
    kSingleCopy,
    kMulticast,
    kHierarchical,
    kSchedule,
    kPlan,  // a line of the run's plan (docs/plan.md)
};
inline constexpr auto kLastCollectivePath = CollectivePath::kPlan;

// Returns the name in the table of paths and in displays; empty for kUnknown.
constexpr std::string_view collective_path_name(CollectivePath path) noexcept {
    constexpr std::array<std::string_view, static_cast<std::size_t>(kLastCollectivePath) + 1>
        kNames{"",
               "cache-line",
               "pipelined-reduce",
               "shift",
               "gather",
               "from-root",
               "swap",
               "arrive-and-publish",
               "pairwise",
               "copy-in-out",
               "single-copy",
               "multicast",
               "hierarchical",
               "schedule",
               "plan"};
    return kNames[static_cast<std::size_t>(path)];
}

struct CollectiveProgress {
    CollectivePath path = CollectivePath::kUnknown;
    std::uint32_t round = 0;   // from 1 on; 0: the path has no rounds, or none has begun
    std::uint32_t rounds = 0;  // of the whole call

    bool operator==(const CollectiveProgress&) const = default;
};

//   path 31..24 | round 23..12 | rounds 11..0; large numbers saturate
constexpr std::uint32_t word_of(const CollectiveProgress& progress) noexcept {
    constexpr std::uint32_t kMost = 0xfff;
    return static_cast<std::uint32_t>(progress.path) << 24 | std::min(progress.round, kMost) << 12 |
           std::min(progress.rounds, kMost);
}
// Any word gives a valid value.
constexpr CollectiveProgress progress_of(std::uint32_t word) noexcept {
    const std::uint32_t path = word >> 24;
    if (path > static_cast<std::uint32_t>(kLastCollectivePath)) return {};
    return {static_cast<CollectivePath>(path), word >> 12 & 0xfffu, word & 0xfffu};
}

}  // namespace poe
