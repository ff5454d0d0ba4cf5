// Stack: a column of a chart that shows how a time is divided into parts: the parts lie on top of
// each other, computing at the bottom, as high as their shares. With colours and Unicode a cell has
// eight levels and two colours; else it has the shape of one part.
#pragma once

#include "tracer/playback/views.hpp"

namespace poe::trace {

// Parts from the bottom to the top. State::kOff is none of them: it stays blank.
inline constexpr std::size_t kStacked = kParts - 1;
std::size_t stacked_part(std::size_t place);

// Divides units among parts in proportion to their times. What a part loses or gains by rounding in
// one column is made good in the next ones, as long as the part occurs in them: so even if a column
// has room for a single part, the shares of a row come out right.
class Apportionment {
  public:
    // `whole`: the time that all units stand for; what is left of it is State::kOff.
    std::array<int, kParts> next(const PartTimes& times, Time whole, int units);

  private:
    std::array<double, kParts> owed_{};
};

// Draws columns of one row, from left to right.
class StackDrawer {
  public:
    StackDrawer(terminal::Grid& grid, const Easel& easel, int top, int height)
        : grid_(grid), easel_(easel), top_(top), height_(height) {}
    void draw(int column, const PartTimes& times, Time whole);

  private:
    void draw_blocks(int column, const std::array<int, kParts>& units);
    void draw_shapes(int column, const std::array<int, kParts>& units);

    terminal::Grid& grid_;
    const Easel& easel_;
    int top_;
    int height_;
    Apportionment apportionment_;
};

// The same lying down: parts from left to right in one line.
void draw_bar(terminal::Grid& grid, const Easel& easel, int line, int column, int width,
              const PartTimes& times, Time whole);

// How a part looks.
terminal::Style style_of_part(std::size_t part);
char32_t glyph_of_part(std::size_t part, const Easel& easel);
// Writes which glyph stands for which part, of those that occur, as far as there is room. The
// column behind it.
int draw_legend(terminal::Grid& grid, const Easel& easel, int line, int column, int end,
                const PartTimes& times);

}  // namespace poe::trace
