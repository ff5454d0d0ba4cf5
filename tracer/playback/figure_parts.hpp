// The parts of figures: a plot with its axes, a legend, bars of fractions. Private to figures.
#pragma once

#include "tracer/playback/figure.hpp"
#include "tracer/playback/view_context.hpp"

namespace poe::trace {

inline constexpr terminal::Rgb kBlack{0, 0, 0};
inline constexpr terminal::Rgb kGrey{0x66, 0x66, 0x66};
inline constexpr terminal::Rgb kPale{0xdd, 0xdd, 0xdd};
inline constexpr terminal::Rgb kBlue{0x2b, 0x6c, 0xb0};

// Returns the colour of a part of the time on paper.
terminal::Rgb paper_color(std::size_t part);

// The area within the axes.
struct Plot {
    Box area;
    double right() const { return area.x + area.width; }
    double bottom() const { return area.y + area.height; }
};

// Reserves room for axes and legend around a plot of that height (0: as high as the figure
// permits), and sets the size of the figure.
Plot plot_of(Figure& figure, FigureSize size, double height, double left);

void add_box(Figure& figure, Box box, terminal::Rgb color);
void add_line(Figure& figure, double x1, double y1, double x2, double y2, terminal::Rgb color,
              double width = 0.5);
void add_words(Figure& figure, double x, double y, const std::string& text,
               Words::Align align = Words::Align::kLeft, terminal::Rgb color = kBlack,
               double size = 9);
// Returns the approximate width of a text.
double width_of(const std::string& text, double size = 9);

// Returns about `about` round values between `from` and `to`.
std::vector<double> ticks_of(double from, double to, int about);

// Adds the frame of the plot and the axis below it. `title` contains the unit.
void add_axis(Figure& figure, const Plot& plot, double from, double to, const std::string& title);
// Adds a time axis, in a unit that suits the window.
void add_time_axis(Figure& figure, const Plot& plot, Stretch window);
// Adds an axis at the left, from 0 at the bottom to `most`.
void add_left_axis(Figure& figure, const Plot& plot, double most, const std::string& title);
// Adds a text along the left side.
void add_left_title(Figure& figure, const Plot& plot, const std::string& title);

// Adds the colours of the parts that occur, above the plot.
void add_legend(Figure& figure, const Plot& plot, const PartTimes& times, const ViewContext& easel);
// Adds a text above the plot at the right.
void add_note(Figure& figure, const Plot& plot, const std::string& text);

// Adds the columns of a row, each divided into parts from bottom to top. Equal neighbouring columns
// become one box. Where one part follows another, the boxes meet at the exact time.
void add_stacks(Figure& figure, Box row, const PartBins& bins, Time whole);
// The same as a horizontal bar, for a single time.
void add_bar(Figure& figure, Box bar, const PartTimes& times, Time whole);

// The views.
Figure figure_of_timeline(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_stream(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_utilization(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_system(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_balance(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_calls(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_messages(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_matrix(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_connections(const ViewState& look, FigureSize size, const ViewContext& easel);
Figure figure_of_flame(const ViewState& look, FigureSize size, const ViewContext& easel);
// Views of words: draws the cells that are used.
Figure figure_of_cells(ViewKind kind, const ViewState& look, FigureSize size,
                       const ViewContext& easel);

}  // namespace poe::trace
