// The views one by one; each draws all lines of its grid but the first. Private to views.
#pragma once

#include "tracer/playback/views.hpp"

namespace poe::trace {

void draw_timeline(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_stream(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_matrix(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_connections(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_messages(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_balance(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_utilization(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_calls(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_markers(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_system(markers::Grid& grid, const Look& look, const Easel& easel);
void draw_source(markers::Grid& grid, const Look& look, const Easel& easel);

// The stretch that sums are about: up to now, or the window.
Stretch stretch_of(const Look& look, const Easel& easel);

// The columns behind the labels of tasks.
struct Chart {
    int left = 0;
    int columns = 0;
    int top = 1;   // first line of a task
    int rows = 0;  // tasks that fit
    Stretch window;
    // Of a moment in the window.
    int column(Time moment) const;
};
// Where a chart with a row per task goes; its time axis is drawn on the last line.
Chart chart_of(markers::Grid& grid, const Look& look, const Easel& easel);
// "  3" before each row, the selected task marked.
void draw_labels(markers::Grid& grid, const Look& look, const Easel& easel, const Chart& chart);
// The column of the moment.
void draw_now(markers::Grid& grid, const Look& look, const Chart& chart);
// A block, of eight heights where there are such.
char32_t level_glyph(double share, const markers::Glyphs& glyphs);

}  // namespace poe::trace
