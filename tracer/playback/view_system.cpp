// The view of counters and system statistics: one strip each, over the window.
#include <algorithm>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/strips.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {}  // namespace

Chart place_of_strips(terminal::Size size, const ViewState& look) {
    constexpr int kName = 28;
    constexpr int kMost = 9;
    Chart chart;
    chart.left = kName;
    chart.columns = size.columns - kName - kMost;
    chart.window = look.window;
    return chart;
}

void draw_system(Grid& grid, const ViewState& look, const ViewContext& easel) {
    Chart chart = place_of_strips(grid.size(), look);
    if (chart.columns <= 0) return;
    const std::vector<StripRow> rows = strips_of(look, easel.session, chart.columns);
    const int lines = grid.size().lines - 1;
    const auto fit = static_cast<std::size_t>(std::max(lines, 0));
    const std::size_t shown =
        rows.size() <= fit ? rows.size() : fit - std::min<std::size_t>(fit, 1);
    for (std::size_t row = 0; row < shown; ++row) {
        const int line = 1 + static_cast<int>(row);
        grid.put(line, 1, rows[row].name, {}, chart.left - 2);
        const double most = rows[row].highest();
        for (int column = 0; column < chart.columns; ++column)
            if (const double value = rows[row].values[static_cast<std::size_t>(column)]; value > 0)
                grid.put(line, chart.left + column, level_glyph(value / most, easel.glyphs),
                         style_of(State::kComputing));
        grid.put_right(line, grid.size().columns - 1, rows[row].most, kDim);
    }
    chart.rows = static_cast<int>(shown);
    draw_now(grid, look, easel, chart);
    if (shown < rows.size())
        grid.put(lines, 1,
                 fmt::format("{} more: make the window higher (-size)", rows.size() - shown), kDim);
    const auto has = [&](Metric metric) {
        return std::any_of(rows.begin(), rows.end(), [&](const StripRow& row) {
            return row.name.starts_with(metric_word(static_cast<std::size_t>(metric)));
        });
    };
    // Below the strips, if there is room.
    if (shown < fit && has(Metric::kCpuUser) && !has(Metric::kSystemCalls))
        grid.put(1 + static_cast<int>(shown), 1,
                 "the system did not let POE count system calls, see poe-trace(5)", kDim);
    if (rows.empty())
        grid.put(1, 1, "the trace has no counters in this window (level 3 has the system's)", kDim);
    grid.put(
        0, 14,
        fmt::format("all tasks together, nodes, task {}; on the right the highest", look.selected),
        kDim);
}

}  // namespace poe::trace
