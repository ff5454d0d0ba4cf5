// ViewContext: the objects that every view draws with, and the common appearance of task states.
#pragma once

#include <functional>

#include "terminal/glyphs.hpp"
#include "terminal/grid.hpp"
#include "tracer/analysis/symbols.hpp"
#include "tracer/diagnosis/diagnosis.hpp"
#include "tracer/playback/view_state.hpp"

namespace poe::trace {

// The drawing context of a view. Does not own its members.
struct ViewContext {
    Session& session;
    Symbols& symbols;
    const terminal::Glyphs& glyphs;
    // Returns the lines of a source file; empty if it cannot be read.
    std::function<std::vector<std::string>(const std::string&)> read_source;
    // Returns the analysis of the whole trace. The first call may take as long as reading the
    // trace.
    std::function<const Analysis&()> analysis;
    // True if cells are distinguished by colours and not only by shapes.
    bool colors = false;

    // True if a cell can show fractions, by a block in one colour on another colour.
    bool blocks() const { return colors && glyphs.unicode(); }
};

// The appearance of a state.
terminal::Style style_of(State state);
char32_t glyph_of(State state, const terminal::Glyphs& glyphs);

}  // namespace poe::trace
