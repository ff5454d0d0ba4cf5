// Palette: maps the meaning of a cell to colours and attributes that the terminal supports. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "terminal/colors.hpp"
#include "terminal/grid.hpp"

namespace poe::terminal {

enum class Colors : std::uint8_t { kNone, kSixteen, kMany, kTrue };

struct Look {
    static constexpr int kDefault = -1;

    int foreground = kDefault;  // a colour number of the terminal; with kTrue 0xRRGGBB
    int background = kDefault;  // likewise
    bool bold = false;
    bool dim = false;
    bool reverse = false;
    bool operator==(const Look&) const = default;
};

class Palette {
  public:
    explicit Palette(Colors colors) : colors_(colors) {}
    Look look_of(const Style& style) const;
    bool colored() const { return colors_ != Colors::kNone; }

  private:
    Look color(Rgb rgb, int of_sixteen) const;

    Colors colors_;
};

// Returns the number of the nearest of xterm's 256 colours, from the colour cube or the greys.
int nearest_of_256(Rgb rgb);

}  // namespace poe::terminal
