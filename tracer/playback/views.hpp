// The views: each converts a trace and a look to cells. The result depends on nothing else, so the
// screen, a printed figure and a test see the same.
#pragma once

#include "tracer/playback/view_context.hpp"

namespace poe::trace {

// Draws one view of any size, with its name in the first line.
terminal::Grid draw_view(ViewKind kind, const ViewState& look, terminal::Size size,
                         const ViewContext& easel);

// Draws the whole screen: title, panes, hints or a prompt; or the menu, or the help.
terminal::Grid draw_screen(const ViewState& look, terminal::Size size, const ViewContext& easel);

}  // namespace poe::trace
