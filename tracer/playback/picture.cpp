// See picture.hpp.
#include "tracer/playback/picture.hpp"

#include <array>

#include <fmt/format.h>

#include "markerarray/colors.hpp"

namespace poe::trace {

using markers::Cell;
using markers::Grid;
using markers::Ink;
using markers::Rgb;

namespace {

// Dark enough for white paper; told apart by brightness, too. By Activity.
constexpr std::array<Rgb, markers::kActivities> kActivityColors{{{0x77, 0x77, 0x77},
                                                                 {0x77, 0x77, 0x77},
                                                                 {0x77, 0x77, 0x77},
                                                                 {0x2b, 0x6c, 0xb0},
                                                                 {0xb7, 0x79, 0x1f},
                                                                 {0x80, 0x5a, 0xd5},
                                                                 {0x99, 0x99, 0x99},
                                                                 {0xdd, 0x6b, 0x20},
                                                                 {0x00, 0x00, 0x00},
                                                                 {0xc5, 0x30, 0x30}}};

Rgb color_of(const markers::Style& style) {
    switch (style.ink) {
        case Ink::kDim:
            return {0x77, 0x77, 0x77};
        case Ink::kBar:
            return {0x2b, 0x6c, 0xb0};
        case Ink::kActivity:
            return kActivityColors[style.value];
        case Ink::kLight:
            return markers::rgb_of(style.value);
        default:
            return {0, 0, 0};
    }
}

std::string hex_of(Rgb color) {
    return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

void append_xml(std::string& out, char32_t glyph) {
    switch (glyph) {
        case U'&':
            out += "&amp;";
            break;
        case U'<':
            out += "&lt;";
            break;
        case U'>':
            out += "&gt;";
            break;
        default:
            markers::append_utf8(out, glyph);
    }
}

class SvgBrush : public Brush {
  public:
    void box(Box box, Rgb color) override {
        out_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
            box.x, box.y, box.width, box.height, hex_of(color));
    }
    void glyph(char32_t glyph, double x, double base, Rgb color, bool bold) override {
        out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>", x, base,
                            hex_of(color), bold ? " font-weight=\"bold\"" : "");
        append_xml(out_, glyph);
        out_ += "</text>\n";
    }
    std::string take() { return std::move(out_); }

  private:
    std::string out_;
};

}  // namespace

void draw_picture(const Grid& grid, Brush& brush) {
    const markers::Size size = grid.size();
    brush.box({0, 0, size.columns * kCellWidth, size.lines * kCellHeight}, {255, 255, 255});
    for (int line = 0; line < size.lines; ++line)
        for (int column = 0; column < size.columns; ++column) {
            const Cell& cell = grid.at(line, column);
            const double x = column * kCellWidth;
            const double y = line * kCellHeight;
            constexpr double kOverlap = 0.1;  // no gaps between neighbours
            if (cell.style.selected != (cell.style.ink == Ink::kTitle))
                brush.box({x, y, kCellWidth + kOverlap, kCellHeight}, {0xdd, 0xdd, 0xdd});
            if (cell.glyph == U' ' || cell.glyph == 0) continue;
            const Rgb color = color_of(cell.style);
            if (cell.glyph >= U'▁' && cell.glyph <= U'█') {
                const double height = kCellHeight * static_cast<double>(cell.glyph - U'▁' + 1) / 8;
                brush.box({x, y + kCellHeight - height, kCellWidth + kOverlap, height}, color);
                continue;
            }
            brush.glyph(cell.glyph, x, y + kBaseLine, color, cell.style.ink == Ink::kStrong);
        }
}

std::string svg_of(const Grid& grid) {
    const markers::Size size = grid.size();
    SvgBrush brush;
    draw_picture(grid, brush);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"{2}, monospace\" "
               "font-size=\"{3:.0f}\">\n",
               size.columns * kCellWidth, size.lines * kCellHeight, kFont, kFontSize) +
           brush.take() + "</svg>\n";
}

}  // namespace poe::trace
