// Implementation of chart.hpp.
#include "tracer/playback/chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {}  // namespace

int Chart::column(Time moment) const {
    const double share =
        seconds_of(moment - window.from) / std::max(seconds_of(window.length()), 1e-9);
    const double at = share * columns;
    return static_cast<int>(std::clamp(std::floor(at), -1e6, 1e6));
}

Chart rows_of_tasks(int lines, const ViewState& look, int tasks) {
    constexpr int kHighest = 12;
    // Rows of at least this height have a blank line between them.
    constexpr int kHigh = 4;
    Chart chart;
    if (lines <= 0 || tasks <= 0) return chart;
    if (tasks <= lines) {
        const int slot = std::min(lines / tasks, kHighest);
        chart.gap = slot >= kHigh ? 1 : 0;
        chart.height = slot - chart.gap;
        chart.rows = tasks;
    } else if (look.each) {
        chart.first = look.top;
        chart.rows = std::clamp(tasks - look.top, 0, lines);
    } else {
        chart.group = (tasks + lines - 1) / lines;
        chart.rows = (tasks + chart.group - 1) / chart.group;
    }
    return chart;
}

Chart place_of_chart(terminal::Size size, const ViewState& look, int tasks) {
    constexpr int kLeast = 4;
    const int axis = size.lines > 4 ? 1 : 0;
    Chart chart = rows_of_tasks(size.lines - 1 - axis, look, tasks);
    chart.window = look.window;
    const int digits = static_cast<int>(std::to_string(std::max(tasks - 1, 0)).size());
    const int label = chart.group > 1 ? 2 * digits + 1 : digits;
    chart.left = std::min(std::max(label, kLeast) + 1, size.columns);
    chart.columns = size.columns - chart.left;
    return chart;
}

std::string row_words(const Chart& chart, int row, int tasks) {
    const int first = chart.task_of(row);
    const int last = std::min(first + chart.group, tasks) - 1;
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

Chart chart_of(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const terminal::Size size = grid.size();
    const Chart chart = place_of_chart(size, look, easel.session.source().facts().tasks);
    const bool axis = size.lines > 4;
    if (!axis || chart.columns <= 0) return chart;
    const int line = chart.top + chart.lines();
    const Time apart = look.window.length() / 1000;
    grid.put(line, chart.left,
             moment_words(look.window.from, apart) + step_words(easel, look.window, chart.columns),
             kDim);
    const std::string to = moment_words(look.window.to, apart);
    if (chart.columns >= 3 * static_cast<int>(to.size())) {
        grid.put_right(line, size.columns, to, kDim);
        grid.put(line, chart.left + (chart.columns - static_cast<int>(to.size())) / 2,
                 moment_words(look.window.from + look.window.length() / 2, apart), kDim);
    }
    return chart;
}

std::string step_words(const ViewContext& easel, Stretch window, int columns) {
    const auto step = easel.session.step_of_sums(window);
    return step && *step > window.length() / columns ? ", in steps of " + span_words(*step) : "";
}

void draw_labels(Grid& grid, const ViewState& look, const ViewContext& easel, const Chart& chart) {
    const int tasks = easel.session.source().facts().tasks;
    for (int row = 0; row < chart.rows; ++row) {
        const bool selected = chart.row_of(look.selected) == row;
        grid.put_right(chart.line_of(row), chart.left - 1, row_words(chart, row, tasks),
                       selected ? Style{Ink::kStrong, 0, true} : kDim);
    }
    const int more = tasks - chart.first - chart.tasks();
    if (more > 0) grid.put_right(0, grid.size().columns, fmt::format(" {} more below", more), kDim);
}

void draw_now(Grid& grid, const ViewState& look, const ViewContext& easel, const Chart& chart) {
    const int column = std::min(chart.column(look.now), chart.columns - 1);
    if (column < 0) return;
    for (int line = chart.top; line < chart.top + chart.lines(); ++line) {
        const terminal::Cell& cell = grid.at(line, chart.left + column);
        Style style = cell.style;
        if (!easel.blocks()) {
            style.selected = true;
            grid.put(line, chart.left + column, cell.glyph, style);
            continue;
        }
        // Draws the line in front of the colour that fills most of the cell.
        const bool lower = cell.glyph >= U'▄' && cell.glyph <= U'█';
        if (cell.glyph == U' ' || (!lower && style.back == Ink::kPlain))
            style.ink = Ink::kPlain;
        else if (!lower)
            style = {style.back, style.back_value, false};
        style = {Ink::kStrong, 0, false, style.ink, style.value};
        grid.put(line, chart.left + column, U'│', style);
    }
}

}  // namespace poe::trace
