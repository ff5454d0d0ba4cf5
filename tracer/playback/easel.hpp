// Easel: what every view draws with, and how the states of tasks look in all of them.
#pragma once

#include <functional>

#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"
#include "tracer/analysis/symbols.hpp"
#include "tracer/playback/look.hpp"

namespace poe::trace {

// What a view draws with.
struct Easel {
    Session& session;
    Symbols& symbols;
    const terminal::Glyphs& glyphs;
    // The lines of a source file; empty when it cannot be read.
    std::function<std::vector<std::string>(const std::string&)> read_source;
    // Cells are told apart by their colours, not by their shapes only.
    bool colors = false;

    // Whether a cell can show shares, by a block in one colour before another one.
    bool blocks() const { return colors && glyphs.unicode(); }
};

// How a state looks.
terminal::Style style_of(State state);
char32_t glyph_of(State state, const terminal::Glyphs& glyphs);

}  // namespace poe::trace
