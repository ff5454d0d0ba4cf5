// The flame view: which functions the processor time belongs to. A line is a depth of calls, from
// the outermost function downwards; the width of a function is its share of the samples.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/flame_layout.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::kDim;
using terminal::Style;

namespace {

// A colour that depends on the name, so that a function looks the same everywhere.
Style style_of_function(const std::string& name) {
    std::uint32_t hash = 0;
    for (const char c : name) hash = hash * 31 + static_cast<unsigned char>(c);
    return {.back = terminal::Ink::kSeries,
            .back_value = static_cast<std::uint8_t>(hash % terminal::kSeriesColors)};
}

}  // namespace

void draw_flame(Grid& grid, const ViewState& look, const ViewContext& easel) {
    constexpr int kAfterName = 14;
    const StackProfile& profile = easel.analysis().profile;
    const FlameNode root = make_flame(profile, flame_filter(look, easel.session), easel.symbols);
    const std::string trouble = flame_trouble(profile, root);
    grid.put(0, kAfterName,
             fmt::format("{} {}", things_words(root.samples, "sample"), flame_words(look)), kDim);
    if (!trouble.empty()) {
        grid.put(1, 1, trouble, kDim);
        return;
    }
    const int width = grid.size().columns;
    int deepest = 0;
    for (const FlameBox& box : flame_boxes(root, 1.0 / width)) {
        deepest = std::max(deepest, box.depth);
        const int line = 1 + box.depth;
        if (line >= grid.size().lines) continue;
        const int first = static_cast<int>(std::lround(box.from * width));
        const int end = std::max(first + 1, static_cast<int>(std::lround(box.to * width)));
        const Style style = style_of_function(box.name);
        for (int column = first; column < std::min(end, width); ++column)
            grid.put(line, column, U' ', style);
        const std::string share =
            percent_words(static_cast<double>(box.samples) / static_cast<double>(root.samples));
        const std::string whole = box.name + " " + share;
        const bool fits = terminal::columns_of(whole) < end - first;
        // A border between neighbours that are too narrow for a name.
        if (end - first > 2)
            grid.put(line, first, "|" + (fits ? whole : box.name), style, end - first);
        else
            grid.put(line, first, "|", style, end - first);
    }
    if (deepest + 2 > grid.size().lines) tell_rest(grid, deepest + 2);
}

}  // namespace poe::trace
