// The layout of a flame view: which part of the width each function has, and at which depth. Pure;
// the view on the screen and the figure draw it.
#pragma once

#include <string>
#include <vector>

#include "tracer/playback/view_context.hpp"
#include "tracer/profile/flame.hpp"

namespace poe::trace {

// A function at a depth: 0 is the root. `from` and `to` are fractions of the width.
struct FlameBox {
    int depth = 0;
    double from = 0;
    double to = 0;
    std::string name;
    std::uint64_t samples = 0;
    std::uint64_t self = 0;
};

// In the order of depth-first search. Boxes narrower than `narrowest` are left out, and so are
// their callees.
std::vector<FlameBox> flame_boxes(const FlameNode& root, double narrowest);

// The samples that a look selects, and in words what they are: "of task 3 while computing in the
// window".
SampleFilter flame_filter(const ViewState& look, const Session& session);
std::string flame_words(const ViewState& look);
// Why there is nothing to show; empty if there is.
std::string flame_trouble(const StackProfile& profile, const FlameNode& root);

}  // namespace poe::trace
