// Implementation of grid.hpp. The C library decides the width of a character by the locale, because
// the terminal library does the same.
#include "terminal/grid.hpp"

#include <algorithm>
#include <cwchar>

namespace poe::terminal {
namespace {

constexpr char32_t kInvalid = 0xfffd;

// Removes one UTF-8 character from the text and returns it; kInvalid if it is not valid UTF-8.
char32_t take_character(std::string_view& text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80u                     ? 1
                               : first >= 0xc2u && first < 0xe0u ? 2
                               : first >= 0xe0u && first < 0xf0u ? 3
                               : first >= 0xf0u && first < 0xf5u ? 4
                                                                 : 0;
    if (length == 1) {
        text.remove_prefix(1);
        return first;
    }
    char32_t character = length == 0 ? 0 : first & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const bool more = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u;
        if (!more) {
            text.remove_prefix(i);
            return kInvalid;
        }
        character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
    return length == 0 ? kInvalid : character;
}

// Returns the width in columns. Replaces a character that cannot be displayed.
int shown(char32_t& character) {
    const int width = ::wcwidth(static_cast<wchar_t>(character));
    if (width >= 0 && character != 0) return width;
    character = U'?';
    return 1;
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
    const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
    if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xc0u | c >> 6);
        byte(0x80u | (c & 0x3fu));
    } else if (c < 0x10000) {
        byte(0xe0u | c >> 12);
        byte(0x80u | (c >> 6 & 0x3fu));
        byte(0x80u | (c & 0x3fu));
    } else {
        byte(0xf0u | c >> 18);
        byte(0x80u | (c >> 12 & 0x3fu));
        byte(0x80u | (c >> 6 & 0x3fu));
        byte(0x80u | (c & 0x3fu));
    }
}

int Grid::put(int line, int column, std::string_view text, Style style, int width) {
    const int end = std::min(size_.columns, column + std::min(width, size_.columns));
    if (line < 0 || line >= size_.lines || column < 0) return column;
    while (!text.empty()) {
        char32_t character = take_character(text);
        const int columns = shown(character);
        if (columns == 0) continue;  // combining characters are dropped: one character per cell
        if (column + columns > end) break;
        cells_[index(line, column)] = {character, style};
        if (columns == 2) cells_[index(line, column + 1)] = {0, style};
        column += columns;
    }
    return column;
}

int Grid::put(int line, int column, char32_t glyph, Style style) {
    if (line >= 0 && line < size_.lines && column >= 0 && column < size_.columns)
        cells_[index(line, column)] = {glyph, style};
    return column + 1;
}

void Grid::put_right(int line, int end, std::string_view text, Style style) {
    put(line, std::max(0, end - columns_of(text)), text, style);
}

void Grid::fill(int line, Style style) {
    if (line < 0 || line >= size_.lines) return;
    for (int column = 0; column < size_.columns; ++column)
        cells_[index(line, column)].style = style;
}

void Grid::select(int line) {
    if (line < 0 || line >= size_.lines) return;
    for (int column = 0; column < size_.columns; ++column)
        cells_[index(line, column)].style.selected = true;
}

std::string Grid::text() const {
    std::string out;
    for (int line = 0; line < size_.lines; ++line) {
        std::string one;
        for (int column = 0; column < size_.columns; ++column)
            if (const char32_t glyph = at(line, column).glyph; glyph != 0) append_utf8(one, glyph);
        one.erase(one.find_last_not_of(' ') + 1);
        out += one + "\n";
    }
    return out;
}

int columns_of(std::string_view text) {
    int columns = 0;
    while (!text.empty()) {
        char32_t character = take_character(text);
        columns += shown(character);
    }
    return columns;
}

}  // namespace poe::terminal
