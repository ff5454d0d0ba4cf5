// Figure: a view as boxes, lines and words on white paper, for a paper or a report. Lengths are in
// points. The shapes are computed here without a graphics library, so that tests can check them;
// paper.hpp converts them to files.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "terminal/colors.hpp"

namespace poe::trace {

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

struct FilledBox {
    Box box;
    terminal::Rgb color;
};

struct Stroke {
    double x1 = 0;
    double y1 = 0;
    double x2 = 0;
    double y2 = 0;
    double width = 0.5;
    terminal::Rgb color;
};

struct Words {
    enum class Align : std::uint8_t { kLeft, kMiddle, kRight };
    double x = 0;  // start, middle or end of the words, depending on align
    double y = 0;  // of the base line
    std::string text;
    Align align = Align::kLeft;
    double size = 9;
    terminal::Rgb color;
    bool fixed = false;  // monospaced
    bool bold = false;
    bool upwards = false;
};

using Shape = std::variant<FilledBox, Stroke, Words>;

struct Figure {
    double width = 0;
    double height = 0;
    std::vector<Shape> shapes;  // later shapes cover earlier ones
};

// The size of a figure: its width, and the height that was chosen or is needed.
struct FigureSize {
    double width = 720;
    double height = 0;  // 0: as needed
};
}  // namespace poe::trace
