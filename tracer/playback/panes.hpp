// Panes: which views share the screen, and where each one is.
#pragma once

#include <vector>

#include "terminal/grid.hpp"
#include "tracer/playback/view_state.hpp"

namespace poe::trace {

// Returns the chosen views, or as many views as the screen has room for.
std::vector<ViewKind> panes_of(const ViewState& look, terminal::Size screen);

// Returns the places of panes below the title. Views over time use the whole width and are below
// each other. The others are next to each other if each then has enough columns. Returns fewer
// places than panes if there is no room for the last ones.
struct Place {
    int line, column, lines, columns;
};
std::vector<Place> places_of(const std::vector<ViewKind>& panes, terminal::Size screen);

}  // namespace poe::trace
