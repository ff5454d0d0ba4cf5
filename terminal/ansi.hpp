// Renders a part of the screen as bytes for the terminal. Curses needs the whole screen; this is
// for a screen whose rest other programs use. Pure. Uses only features that every current terminal
// supports: cursor positions, colours, a scroll region.
#pragma once

#include <string>

#include "terminal/grid.hpp"
#include "terminal/palette.hpp"

namespace poe::terminal {

// Returns the bytes that change `before` into `after`. `before` is unknown if it is null or has
// another size. The first line of `after` is line `top` (from 0) of the screen. Afterwards the
// cursor and its colours are as before.
std::string bytes_between(const Grid* before, const Grid& after, int top, const Palette& palette);

// Returns the bytes that restrict scrolling to the lines [first, last], counted from 0. The cursor
// does not move. -1, -1: the whole screen.
std::string scroll_region(int first, int last);

}  // namespace poe::terminal
