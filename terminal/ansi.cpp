// Implementation of ansi.hpp.
#include "terminal/ansi.hpp"

#include <fmt/format.h>

namespace poe::terminal {
namespace {

constexpr const char* kSave = "\0337";
constexpr const char* kRestore = "\0338";

// Returns the escape code's part for a color. `base`: 30 for the foreground, 40 for the background.
std::string color_bytes(int color, int base) {
    if (color < 0) return "";
    if (color < 8) return fmt::format(";{}", base + color);
    if (color < 16) return fmt::format(";{}", base + 60 + color - 8);
    return fmt::format(";{};5;{}", base + 8, color);
}

std::string look_bytes(const Look& look) {
    return fmt::format("\033[0{}{}{}{}{}m", look.bold ? ";1" : "", look.dim ? ";2" : "",
                       look.reverse ? ";7" : "", color_bytes(look.foreground, 30),
                       color_bytes(look.background, 40));
}

}  // namespace

std::string bytes_between(const Grid* before, const Grid& after, int top, const Palette& palette) {
    const Size size = after.size();
    const bool all = before == nullptr || before->size() != size;
    std::string bytes;
    Look look;
    for (int line = 0; line < size.lines; ++line) {
        int cursor = -1;  // its column in this line
        for (int column = 0; column < size.columns; ++column) {
            const Cell& cell = after.at(line, column);
            if (cell.glyph == 0) continue;  // drawn with its left half
            const bool wide = column + 1 < size.columns && after.at(line, column + 1).glyph == 0;
            const bool was_wide =
                !all && column + 1 < size.columns && before->at(line, column + 1).glyph == 0;
            if (!all && !wide && !was_wide && before->at(line, column) == cell) continue;
            if (bytes.empty()) bytes = std::string(kSave) + "\033[0m";
            if (cursor != column) bytes += fmt::format("\033[{};{}H", top + line + 1, column + 1);
            const Look wanted = palette.look_of(cell.style);
            if (wanted != look) bytes += look_bytes(wanted);
            look = wanted;
            append_utf8(bytes, cell.glyph);
            cursor = column + (wide ? 2 : 1);
        }
    }
    return bytes.empty() ? bytes : bytes + "\033[0m" + kRestore;
}

std::string scroll_region(int first, int last) {
    if (first < 0) return fmt::format("{}\033[r{}", kSave, kRestore);
    return fmt::format("{}\033[{};{}r{}", kSave, first + 1, last + 1, kRestore);
}

}  // namespace poe::terminal
