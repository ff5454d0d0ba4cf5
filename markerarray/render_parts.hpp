// The parts of a screen; each draws its lines into the given grid. Private to render.
#pragma once

#include "markerarray/view.hpp"
#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"

namespace poe::markers {

// Draws lines [from, to) of the grid; `from` is for the headings if there are any.
void draw_rows(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to, bool select);
void draw_cells(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);
void draw_task(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);
void draw_jobs(Grid& grid, const Scene& scene, int from, int to);
void draw_help(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);

// Returns "mpc_brecv from 3, 12 s".
std::string doing_words(const TaskRow& row);
// Returns the name of a row's node if it is known.
std::string node_words(const TaskRow& row, const JobFacts& job);

}  // namespace poe::markers
