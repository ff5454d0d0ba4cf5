// Findings: what is known of a trace only by reading all of it: which blocks are damaged, how
// clocks were repaired. An index keeps them, so that this is found out once. Plain data.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tracer/probe/format.hpp"
#include "tracer/read/clock_fit.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {

// What is known of the clock of a node: its times are off by at most `within`, as seen from the
// home node's; nothing when nobody knows.
struct ClockDoubt {
    NodeIndex node = 0;
    std::optional<Time> within;
};

// What a repair of the clocks has done (repair.hpp).
struct Repaired {
    std::uint64_t messages = 0;  // that had arrived before they were sent, as the clocks were
    Time farthest{0};            // that a task was moved
    bool all = true;             // false: some are left
};

struct Findings {
    // Of each stream; by block, and empty where none is damaged.
    std::vector<std::vector<bool>> damaged;
    // The rest counts if the clocks have been repaired.
    std::optional<Repaired> repaired;
    std::map<NodeIndex, ClockFit> clocks;
    std::vector<ClockDoubt> doubts;
    // Of each stream: from which moment on it is how much later, rising.
    std::vector<std::map<Time, Time>> moves;
};

void pack(Packer& out, const Findings& findings);
// Nothing when the bytes make no sense for a trace of so many streams.
std::optional<Findings> unpack_findings(std::span<const std::byte> bytes, std::size_t streams);

}  // namespace poe::trace
