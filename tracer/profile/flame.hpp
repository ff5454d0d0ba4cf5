// FlameNode: samples summed by call path, with the names of functions. Equal functions below equal
// callers are one node, wherever in the function the call is.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/analysis/session.hpp"
#include "tracer/analysis/symbols.hpp"
#include "tracer/profile/profile.hpp"

namespace poe::trace {

// Which samples to sum; empty: all.
struct SampleFilter {
    std::set<TaskId> tasks{};
    std::optional<Stretch> window{};
    std::optional<State> state{};
    std::string phase{};   // the name of a user's region
    bool waiting = false;  // samples of threads that sleep instead of those of threads that run

    bool takes(const StackSample& sample, const StackProfile& profile) const;
};

struct FlameNode {
    std::string name;
    std::uint64_t samples = 0;         // of this function and what it has called
    std::uint64_t self = 0;            // of this function itself
    std::vector<FlameNode> callees{};  // most samples first
};

// The root is named "all". `symbols` reads the object files.
FlameNode make_flame(const StackProfile& profile, const SampleFilter& filter, Symbols& symbols);

// The call paths of the samples as lines "main;solve;sweep 42", outermost function first, in the
// order of the nodes: the collapsed stacks that tools for flame graphs read. `;` in a name becomes
// `:`.
std::string folded_stacks(const FlameNode& root);
// The suffix of files with such lines.
inline constexpr std::string_view kFoldedSuffix = ".folded";

}  // namespace poe::trace
