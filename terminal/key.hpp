// Key: an input event of a terminal.
#pragma once

#include <cstdint>

namespace poe::terminal {

// A key press, or a mouse click or wheel movement at a position of the screen.
struct Key {
    enum class Kind : std::uint8_t {
        kCharacter,
        kUp,
        kDown,
        kLeft,
        kRight,
        kPageUp,
        kPageDown,
        kHome,
        kEnd,
        kEnter,
        kEscape,
        kBackspace,
        kClick,  // at line, column
        kWheelUp,
        kWheelDown,
    };
    Kind kind = Kind::kCharacter;
    char32_t character = 0;
    int line = 0;
    int column = 0;
};

}  // namespace poe::terminal
