// The individual views; each draws all lines of its grid except the first. Private to views.
#pragma once

#include "tracer/playback/chart.hpp"

namespace poe::trace {

void draw_timeline(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_stream(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_matrix(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_connections(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_messages(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_balance(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_utilization(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_calls(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_markers(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_system(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_wait_states(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_causes(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_path(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_efficiency(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_flame(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
void draw_source(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);

// The layout of a matrix: `group` tasks per cell, `cells` cells per side, each `wide` columns wide.
struct MatrixPlace {
    static constexpr int kLeft = 6;
    static constexpr int kTop = 2;
    int group = 1;
    int cells = 0;  // 0: there is no room
    int wide = 1;
};
MatrixPlace place_of_matrix(terminal::Size size, int tasks);
Chart place_of_utilization(terminal::Size size, const ViewState& look);
// The layout of the strips of the system's view: columns only.
Chart place_of_strips(terminal::Size size, const ViewState& look);
// The activities of tasks, or of groups of tasks, at the moment and in the range of sums; and
// whether a view of that size has a dial, which uses its right half.
struct Balance {
    std::vector<PartTimes> now;
    std::vector<PartTimes> sums;
};
Balance balance_of(const ViewState& look, Session& session, const Chart& rows);
// The fraction of computing in the traced time.
double load_of(const PartTimes& times);
// The layout of the rows of a balance.
Chart place_of_balance(terminal::Size size, const ViewState& look, int tasks);
bool has_dial(terminal::Size size);
// Returns the spoke, of `spokes`, that is nearest to a position of the dial.
int spoke_at(terminal::Size size, int line, int column, int spokes);
// If a list has more lines than the view, shows in the last line how many are missing.
void tell_rest(terminal::Grid& grid, int next);
// Returns a block glyph, with eight heights if Unicode is available.
char32_t level_glyph(double share, const terminal::Glyphs& glyphs);

}  // namespace poe::trace
