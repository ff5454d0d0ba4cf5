// Grid: a picture of cells, each with a character and its meaning. The palette of the terminal
// decides how a meaning looks (palette.hpp). Tests compare the grid as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/activity.hpp"

namespace poe::terminal {

struct Size {
    int columns = 0;
    int lines = 0;
    bool operator==(const Size&) const = default;
};

enum class Ink : std::uint8_t {
    kPlain,
    kDim,
    kStrong,
    kTitle,     // a bar across the screen
    kLight,     // `value` is a colour, 0..102
    kActivity,  // `value` is an Activity
    kBar,       // a progress bar
    kSeries,    // `value` is one of kSeriesColors colours for things without a colour of their own
};
inline constexpr std::size_t kSeriesColors = 8;

struct Style {
    Ink ink = Ink::kPlain;
    std::uint8_t value = 0;
    bool selected = false;
    // The background of the glyph; kPlain: the terminal's own background.
    Ink back = Ink::kPlain;
    std::uint8_t back_value = 0;
    bool operator==(const Style&) const = default;
};

inline constexpr Style kTitle{Ink::kTitle};
inline constexpr Style kDim{Ink::kDim};
inline constexpr Style kStrong{Ink::kStrong};

struct Cell {
    char32_t glyph = U' ';  // 0: the right half of a wide character
    Style style;
    bool operator==(const Cell&) const = default;
};

class Grid {
  public:
    explicit Grid(Size size)
        : size_(size),
          cells_(static_cast<std::size_t>(size.columns) * static_cast<std::size_t>(size.lines)) {}

    Size size() const { return size_; }
    // Precondition: the position is inside the grid.
    const Cell& at(int line, int column) const { return cells_[index(line, column)]; }

    // Writes UTF-8 text from a column, at most `width` columns and not beyond the edge; longer text
    // is truncated. Characters that cannot be displayed, including control characters, become "?".
    // No effect outside the grid. Returns the column after the text.
    int put(int line, int column, std::string_view text, Style style = {}, int width = 1 << 20);
    int put(int line, int column, char32_t glyph, Style style = {});
    // Writes text that ends before column `end`.
    void put_right(int line, int end, std::string_view text, Style style = {});
    // fill() sets the style of all cells of a line (kTitle); select() marks them as selected.
    void fill(int line, Style style);
    void select(int line);

    // Returns the lines without trailing blanks.
    std::string text() const;

  private:
    std::size_t index(int line, int column) const {
        return static_cast<std::size_t>(line) * static_cast<std::size_t>(size_.columns) +
               static_cast<std::size_t>(column);
    }

    Size size_;
    std::vector<Cell> cells_;
};

// Appends a character as UTF-8.
void append_utf8(std::string& out, char32_t character);

// Returns how many columns put() needs for a text.
int columns_of(std::string_view text);

}  // namespace poe::terminal
