// Renders a scene to cells. Pure: the same scene and size always give the same cells, with any
// terminal or none.
#pragma once

#include "markerarray/view.hpp"
#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"

namespace poe::markers {

// Renders the whole screen, of any size. Processes only the visible lines, except for the sums in
// the title.
Grid render(const Scene& scene, Size size, const Glyphs& glyphs);

// Renders only title, job's progress, headings and as many rows as fit, without keys, hints and
// selection. For displays without input.
Grid render_rows_only(const Scene& scene, Size size, const Glyphs& glyphs);

// Renders one line: the program, the progress of all tasks together if any reports one, and the
// number of tasks in each state.
Grid render_status(const Scene& scene, int columns, const Glyphs& glyphs);

// Renders the screen that is shown while there is no job.
Grid render_waiting(Size size, const std::string& text);

}  // namespace poe::markers
