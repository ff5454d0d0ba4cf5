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
// Where a chart with a row per task goes in a view of that size.
Chart place_of_chart(markers::Size size, const Look& look, int tasks);
// The same, and its time axis is drawn below it.
Chart chart_of(markers::Grid& grid, const Look& look, const Easel& easel);
// ", in steps of 12 ms" where a chart of so many columns is drawn by sums that are farther apart
// than its columns; else nothing.
std::string step_words(const Easel& easel, Stretch window, int columns);
// "  3" before each row, the selected task marked.
void draw_labels(markers::Grid& grid, const Look& look, const Easel& easel, const Chart& chart);
// The column of the moment.
void draw_now(markers::Grid& grid, const Look& look, const Chart& chart);
// How a matrix is drawn: `group` tasks to a cell, so many cells a side, each so many columns wide.
struct MatrixPlace {
    static constexpr int kLeft = 6;
    static constexpr int kTop = 2;
    int group = 1;
    int cells = 0;  // 0: there is no room
    int wide = 1;
};
MatrixPlace place_of_matrix(markers::Size size, int tasks);
Chart place_of_utilization(markers::Size size, const Look& look);
// Where the strips of the system's view are: columns only.
Chart place_of_strips(markers::Size size, const Look& look);
// The share of computing of each task, now and so far; and whether there is a dial in a view of
// that size, which takes the right half of it.
struct Balance {
    std::vector<double> now;
    std::vector<double> average;
};
Balance balance_of(const Look& look, Session& session);
bool has_dial(markers::Size size);
// The task whose spoke is nearest to a place of the dial.
TaskId task_of_spoke(markers::Size size, int line, int column, int tasks);
// The last line says how much has no place, when the next line of a list would be this.
void tell_rest(markers::Grid& grid, int next);
// A block, of eight heights where there are such.
char32_t level_glyph(double share, const markers::Glyphs& glyphs);

}  // namespace poe::trace
