// The views: each makes cells of a trace and a look at it. What they show depends on nothing else,
// so that the screen, a printed figure and a test see the same.
#pragma once

#include "tracer/playback/easel.hpp"

namespace poe::trace {

// One view, with a line above that names it. Any size.
terminal::Grid draw_view(ViewKind kind, const Look& look, terminal::Size size, const Easel& easel);

// The whole screen: title, the panes side by side, hints or a prompt; or the menu, or the help.
terminal::Grid draw_screen(const Look& look, terminal::Size size, const Easel& easel);

}  // namespace poe::trace
