// A click on a view: who is clicked is selected, when is gone to, and what stands there is told in
// numbers, as the paper has it of the views of the Visualization Tool. Pure.
#pragma once

#include "terminal/grid.hpp"
#include "tracer/playback/look.hpp"

namespace poe::trace {

// On that place of a screen of that size, which shows the panes of the look.
void click(Look& look, Session& session, terminal::Size screen, int line, int column);

}  // namespace poe::trace
