// The views: each makes cells of a trace and a look at it. What they show depends on nothing else,
// so that the screen, a printed figure and a test see the same.
#pragma once

#include <functional>

#include "markerarray/glyphs.hpp"
#include "markerarray/grid.hpp"
#include "tracer/playback/look.hpp"
#include "tracer/symbols.hpp"

namespace poe::trace {

// What a view draws with.
struct Easel {
    Session& session;
    Symbols& symbols;
    const markers::Glyphs& glyphs;
    // The lines of a source file; empty when it cannot be read.
    std::function<std::vector<std::string>(const std::string&)> read_source;
    // Cells are told apart by their colours, not by their shapes only.
    bool colors = false;

    // Whether a cell can show shares, by a block in one colour before another one.
    bool blocks() const { return colors && glyphs.unicode(); }
};

// One view, with a line above that names it. Any size.
markers::Grid draw_view(ViewKind kind, const Look& look, markers::Size size, const Easel& easel);

// The whole screen: title, the panes side by side, hints or a prompt; or the menu, or the help.
markers::Grid draw_screen(const Look& look, markers::Size size, const Easel& easel);

// The views that are shown: those that were chosen, or as many as have room on the screen.
std::vector<ViewKind> panes_of(const Look& look, markers::Size screen);

// Where panes go below the title. Views over time have the whole width, one below the other; the
// others stand beside each other if that leaves each enough columns. Fewer than there are panes if
// there is no room for the last ones.
struct Place {
    int line, column, lines, columns;
};
std::vector<Place> places_of(const std::vector<ViewKind>& panes, markers::Size screen);

// How a state looks.
markers::Style style_of(State state);
char32_t glyph_of(State state, const markers::Glyphs& glyphs);

}  // namespace poe::trace
