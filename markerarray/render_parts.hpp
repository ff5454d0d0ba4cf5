// The parts of a screen; each draws its lines into the grid that it is given. Private to render.
#pragma once

#include "markerarray/view.hpp"
#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"

namespace poe::markers {

// Lines [from, to) of the grid, `from` for the heads where there are any.
void draw_rows(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to, bool select);
void draw_cells(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);
void draw_task(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);
void draw_jobs(Grid& grid, const Scene& scene, int from, int to);
void draw_help(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to);

// "mpc_brecv from 3, 12 s"
std::string doing_words(const TaskRow& row);
// The name of a row's node, as far as known.
std::string node_words(const TaskRow& row, const JobFacts& job);

}  // namespace poe::markers
