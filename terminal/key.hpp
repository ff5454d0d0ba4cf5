// Key: what somebody does at a terminal.
#pragma once

#include <cstdint>

namespace poe::terminal {

// A key, or a click on a place of the screen.
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
        kClick,  // on line, column
        kWheelUp,
        kWheelDown,
    };
    Kind kind = Kind::kCharacter;
    char32_t character = 0;
    int line = 0;
    int column = 0;
};

}  // namespace poe::terminal
