// The views one by one; each draws all lines of its grid but the first. Private to views.
#pragma once

#include "tracer/playback/chart.hpp"

namespace poe::trace {

void draw_timeline(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_stream(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_matrix(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_connections(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_messages(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_balance(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_utilization(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_calls(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_markers(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_system(terminal::Grid& grid, const Look& look, const Easel& easel);
void draw_source(terminal::Grid& grid, const Look& look, const Easel& easel);

// How a matrix is drawn: `group` tasks to a cell, so many cells a side, each so many columns wide.
struct MatrixPlace {
    static constexpr int kLeft = 6;
    static constexpr int kTop = 2;
    int group = 1;
    int cells = 0;  // 0: there is no room
    int wide = 1;
};
MatrixPlace place_of_matrix(terminal::Size size, int tasks);
Chart place_of_utilization(terminal::Size size, const Look& look);
// Where the strips of the system's view are: columns only.
Chart place_of_strips(terminal::Size size, const Look& look);
// What tasks or groups of them did, just now and in the stretch that sums are about; and whether
// there is a dial in a view of that size, which takes the right half of it.
struct Balance {
    std::vector<PartTimes> now;
    std::vector<PartTimes> sums;
};
Balance balance_of(const Look& look, Session& session, const Chart& rows);
// The share of computing in the time that tasks were traced.
double load_of(const PartTimes& times);
// Where the rows of a balance go.
Chart place_of_balance(terminal::Size size, const Look& look, int tasks);
bool has_dial(terminal::Size size);
// Which of so many spokes is nearest to a place of the dial.
int spoke_at(terminal::Size size, int line, int column, int spokes);
// The last line says how much has no place, when the next line of a list would be this.
void tell_rest(terminal::Grid& grid, int next);
// A block, of eight heights where there are such.
char32_t level_glyph(double share, const terminal::Glyphs& glyphs);

}  // namespace poe::trace
