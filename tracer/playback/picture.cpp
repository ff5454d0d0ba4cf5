// See picture.hpp.
#include "tracer/playback/picture.hpp"

#include <array>

#include <fmt/format.h>

#include "markerarray/colors.hpp"

namespace poe::trace {

using markers::Cell;
using markers::Grid;
using markers::Ink;

namespace {

// Of a character of 14 points; places are given to each, so that no font moves them.
constexpr double kWidth = 8.4;
constexpr double kHeight = 17;
constexpr double kBase = 13;

// Dark enough for white paper; told apart by brightness, too. By Activity.
constexpr std::array<const char*, markers::kActivities> kActivityColors{
    "#777777", "#777777", "#777777", "#2b6cb0", "#b7791f",
    "#805ad5", "#999999", "#dd6b20", "#000000", "#c53030"};

std::string color_of(const markers::Style& style) {
    switch (style.ink) {
        case Ink::kDim:
            return "#777777";
        case Ink::kBar:
            return "#2b6cb0";
        case Ink::kActivity:
            return kActivityColors[style.value];
        case Ink::kLight: {
            const markers::Rgb rgb = markers::rgb_of(style.value);
            return fmt::format("#{:02x}{:02x}{:02x}", rgb.red, rgb.green, rgb.blue);
        }
        default:
            return "#000000";
    }
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

// Blocks as rectangles, which join without gaps; empty for other characters.
std::string block_of(char32_t glyph, double x, double y, const std::string& color) {
    if (glyph < U'▁' || glyph > U'█') return "";
    const double height = kHeight * static_cast<double>(glyph - U'▁' + 1) / 8;
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
        y + kHeight - height, kWidth + 0.1, height, color);
}

}  // namespace

std::string svg_of(const Grid& grid) {
    const markers::Size size = grid.size();
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" font-family=\"DejaVu Sans Mono, monospace\" font-size=\"14\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        size.columns * kWidth, size.lines * kHeight);
    for (int line = 0; line < size.lines; ++line)
        for (int column = 0; column < size.columns; ++column) {
            const Cell& cell = grid.at(line, column);
            const double x = column * kWidth;
            const double y = line * kHeight;
            const bool reverse = cell.style.selected != (cell.style.ink == Ink::kTitle);
            if (reverse)
                out += fmt::format(
                    "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                    "fill=\"#dddddd\"/>\n",
                    x, y, kWidth + 0.1, kHeight);
            if (cell.glyph == U' ' || cell.glyph == 0) continue;
            const std::string color = color_of(cell.style);
            if (const std::string block = block_of(cell.glyph, x, y, color); !block.empty()) {
                out += block;
                continue;
            }
            out +=
                fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>", x, y + kBase, color,
                            cell.style.ink == Ink::kStrong ? " font-weight=\"bold\"" : "");
            append_xml(out, cell.glyph);
            out += "</text>\n";
        }
    return out + "</svg>\n";
}

}  // namespace poe::trace
