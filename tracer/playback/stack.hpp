// Stack: a column of a chart that shows how a time is divided into parts. The parts are stacked
// with computing at the bottom, and their heights are proportional to their times. With colours and
// Unicode a cell has eight levels and two colours; otherwise it has the shape of one part.
#pragma once

#include "tracer/playback/views.hpp"

namespace poe::trace {

// The parts from bottom to top. State::kOff is not one of them; it stays blank.
inline constexpr std::size_t kStacked = kParts - 1;
std::size_t stacked_part(std::size_t place);

// Divides units among parts in proportion to their times. Rounding errors of one column are
// compensated in the following columns in which the part occurs. The shares of a row are therefore
// correct, even if a column has room for only one part.
class Apportionment {
  public:
    // `whole`: the time that all units represent; the rest of it is State::kOff.
    std::array<int, kParts> next(const PartTimes& times, Time whole, int units);

  private:
    std::array<double, kParts> owed_{};
};

// Draws the columns of one row, from left to right.
class StackDrawer {
  public:
    StackDrawer(terminal::Grid& grid, const ViewContext& easel, int top, int height)
        : grid_(grid), easel_(easel), top_(top), height_(height) {}
    void draw(int column, const PartTimes& times, Time whole);

  private:
    void draw_blocks(int column, const std::array<int, kParts>& units);
    void draw_shapes(int column, const std::array<int, kParts>& units);

    terminal::Grid& grid_;
    const ViewContext& easel_;
    int top_;
    int height_;
    Apportionment apportionment_;
};

// The same horizontally: parts from left to right in one line.
void draw_bar(terminal::Grid& grid, const ViewContext& easel, int line, int column, int width,
              const PartTimes& times, Time whole);

// The appearance of a part.
terminal::Style style_of_part(std::size_t part);
char32_t glyph_of_part(std::size_t part, const ViewContext& easel);
// Draws the glyphs and names of the parts that occur, as many as fit. Returns the column after
// them.
int draw_legend(terminal::Grid& grid, const ViewContext& easel, int line, int column, int end,
                const PartTimes& times);

}  // namespace poe::trace
