// The screen of pdbx as a picture of cells: a light for each task, the source with the tasks that
// stand on each line, the stacks, what commands have answered, and the line that is typed. Pure.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "debugger/picture.hpp"
#include "terminal/grid.hpp"

namespace poe::debugger {

struct ScreenText {
    bool unicode = true;          // the terminal can show more than ASCII
    std::deque<std::string> log;  // answers and output, the newest last
    std::size_t back = 0;         // lines by which the log is scrolled back
    std::string prompt;           // empty: a command is being executed
    std::u32string input;
    std::size_t cursor = 0;
};

// `source` has the lines of picture.file; it may be empty.
terminal::Grid draw_screen(const Picture& picture, const std::vector<std::string>& source,
                           const ScreenText& text, terminal::Size size);

// The parts of a line that fit into so many columns. Tabs become blanks.
std::vector<std::string> wrapped(const std::string& line, int columns);

}  // namespace poe::debugger
