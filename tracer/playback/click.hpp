// A click on a view selects the clicked task, goes to the clicked time, and shows the numbers of
// the clicked object, as described in the paper on the Visualization Tool. Pure.
#pragma once

#include "terminal/grid.hpp"
#include "tracer/playback/view_state.hpp"

namespace poe::trace {

// Handles a click at a position of a screen of that size, which shows the panes of the look.
void click(ViewState& look, Session& session, terminal::Size screen, int line, int column);

}  // namespace poe::trace
