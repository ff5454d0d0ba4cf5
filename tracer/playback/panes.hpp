// Panes: which views share the screen, and where each one is.
#pragma once

#include <vector>

#include "terminal/grid.hpp"
#include "tracer/playback/look.hpp"

namespace poe::trace {

// The views that are shown: those that were chosen, or as many as have room on the screen.
std::vector<ViewKind> panes_of(const Look& look, terminal::Size screen);

// Where panes go below the title. Views over time have the whole width, one below the other; the
// others stand beside each other if that leaves each enough columns. Fewer than there are panes if
// there is no room for the last ones.
struct Place {
    int line, column, lines, columns;
};
std::vector<Place> places_of(const std::vector<ViewKind>& panes, terminal::Size screen);

}  // namespace poe::trace
