// render: from what is known and what somebody wants to see to cells. Pure: the same scene and size
// give the same cells, whatever terminal there is, or none.
#pragma once

#include "markerarray/view.hpp"
#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"

namespace poe::markers {

// The whole screen, of any size. Only the lines that are visible are looked at, apart from the sums
// in the title.
Grid render(const Scene& scene, Size size, const Glyphs& glyphs);

// Title, job's progress, heads and rows only, as many as there is room for: without keys, hints and
// selection, for a display that nobody can type at.
Grid render_rows_only(const Scene& scene, Size size, const Glyphs& glyphs);

// One line: the program, the progress of all tasks together if they tell any, how many tasks there
// are of each state.
Grid render_status(const Scene& scene, int columns, const Glyphs& glyphs);

// What to show while there is no job.
Grid render_waiting(Size size, const std::string& text);

}  // namespace poe::markers
