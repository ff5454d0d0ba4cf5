// Findings: results that require reading the whole trace: which blocks are damaged, how clocks were
// repaired. An index stores them, so that they are computed only once. Plain data.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tracer/probe/format.hpp"
#include "tracer/read/clock_fit.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {

// The uncertainty of a node's clock: its times differ from the home node's clock by at most
// `within`; empty if unknown.
struct ClockDoubt {
    NodeIndex node = 0;
    std::optional<Time> within;
};

// The result of a repair of the clocks (repair.hpp).
struct Repaired {
    std::uint64_t messages = 0;  // messages that were received before they were sent
    Time farthest{0};            // the largest move of a task
    bool all = true;             // false: some messages are still wrong
};

struct Findings {
    // By stream and block; empty for a stream without damage.
    std::vector<std::vector<bool>> damaged;
    // The following members are valid if the clocks have been repaired.
    std::optional<Repaired> repaired;
    std::map<NodeIndex, ClockFit> clocks;
    std::vector<ClockDoubt> doubts;
    // By stream: the moment from which it is moved, and how far; both ascending.
    std::vector<std::map<Time, Time>> moves;
};

void pack(Packer& out, const Findings& findings);
// Empty if the bytes are not valid for a trace with `streams` streams.
std::optional<Findings> unpack_findings(std::span<const std::byte> bytes, std::size_t streams);

}  // namespace poe::trace
