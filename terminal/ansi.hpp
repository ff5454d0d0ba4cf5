// A part of a screen as bytes for the terminal, for when the rest of the screen belongs to others
// and curses, which wants all of it, cannot be used. Pure. Only what every terminal of today knows:
// places, colours, a scroll region.
#pragma once

#include <string>

#include "terminal/grid.hpp"
#include "terminal/palette.hpp"

namespace poe::terminal {

// The bytes that turn `before` (null, or of another size: not known) into `after`, whose first line
// is line `top` (from 0) of the screen. The cursor and its colours end where and as they were.
std::string bytes_between(const Grid* before, const Grid& after, int top, const Palette& palette);

// The lines that others scroll, 0-based, [first, last]; the cursor stays. -1, -1: the whole screen.
std::string scroll_region(int first, int last);

}  // namespace poe::terminal
