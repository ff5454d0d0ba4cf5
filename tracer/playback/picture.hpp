// A grid as a figure for a paper: the characters' own colours on white, as SVG or as PNG. Both are
// drawn by the same walk over the cells.
#pragma once

#include <string>

#include "markerarray/colors.hpp"
#include "markerarray/grid.hpp"

namespace poe::trace {

// Of a character, in points; places are given to each, so that no font moves them.
inline constexpr const char* kFont = "DejaVu Sans Mono";
inline constexpr double kFontSize = 14;
inline constexpr double kCellWidth = 8.4;
inline constexpr double kCellHeight = 17;
inline constexpr double kBaseLine = 13;

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

// What a figure is drawn with.
class Brush {
  public:
    virtual ~Brush() = default;
    virtual void box(Box box, markers::Rgb color) = 0;
    virtual void glyph(char32_t glyph, double x, double base, markers::Rgb color, bool bold) = 0;
};

// Blocks become boxes, which join without gaps.
void draw_picture(const markers::Grid& grid, Brush& brush);

std::string svg_of(const markers::Grid& grid);
// Two pixels for each point. Throws Error when there is no memory for it.
std::string png_of(const markers::Grid& grid);

}  // namespace poe::trace
