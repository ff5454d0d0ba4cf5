// Views with a row per task and time from left to right: the time line, the streaming chart.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {

using markers::Grid;
using markers::Ink;
using markers::Style;

namespace {

constexpr std::size_t kMostLines = 400;
constexpr Style kDim{Ink::kDim, 0, false};
constexpr Style kLine{Ink::kStrong, 0, false};

// The state that took most of a column; kOff when nothing is known of it.
State most_of(const std::array<Time, kStates>& column) {
    std::size_t best = 0;
    for (std::size_t state = 1; state < kStates; ++state)
        if (column[state] > Time{0} && (best == 0 || column[state] > column[best])) best = state;
    return static_cast<State>(best);
}

char32_t slope(int from_line, int to_line, int from_column, int to_column,
               const markers::Glyphs& glyphs) {
    const int down = to_line - from_line;
    const int right = to_column - from_column;
    if (std::abs(down) > 2 * std::abs(right)) return glyphs.unicode() ? U'│' : U'|';
    if (down == 0) return glyphs.unicode() ? U'─' : U'-';
    if (down > 0) return glyphs.unicode() ? U'╲' : U'\\';
    return glyphs.unicode() ? U'╱' : U'/';
}

void draw_message(Grid& grid, const Message& message, const Look& look, const Chart& chart,
                  const markers::Glyphs& glyphs) {
    const int from_line = chart.top + message.from - look.top;
    const int to_line = chart.top + message.to - look.top;
    const int from = chart.column(message.sent);
    const int to = chart.column(message.received);
    const int steps = std::max({std::abs(to_line - from_line), std::abs(to - from), 1});
    const char32_t shape = slope(from_line, to_line, from, to, glyphs);
    for (int step = 0; step <= steps; ++step) {
        const double way = static_cast<double>(step) / steps;
        const int line = from_line + static_cast<int>(std::lround((to_line - from_line) * way));
        const int column = from + static_cast<int>(std::lround((to - from) * way));
        const bool inside = line >= chart.top && line < chart.top + chart.rows && column >= 0 &&
                            column < chart.columns;
        if (!inside) continue;
        const bool end = step == steps && message.received < look.window.to;
        const char32_t head = glyphs.unicode() ? U'◉' : U'@';
        grid.put(line, chart.left + column, end ? head : shape, kLine);
    }
}

}  // namespace

int Chart::column(Time moment) const {
    const double share =
        seconds_of(moment - window.from) / std::max(seconds_of(window.length()), 1e-9);
    const double at = share * columns;
    return static_cast<int>(std::clamp(std::floor(at), -1e6, 1e6));
}

Chart chart_of(Grid& grid, const Look& look, const Easel& easel) {
    const markers::Size size = grid.size();
    const int digits = static_cast<int>(
        std::to_string(std::max(easel.session.source().facts().tasks - 1, 0)).size());
    Chart chart;
    chart.window = look.window;
    chart.left = std::min(std::max(digits, 4) + 1, size.columns);
    chart.columns = size.columns - chart.left;
    const bool axis = size.lines > 4;
    chart.rows = std::clamp(size.lines - 1 - (axis ? 1 : 0), 0,
                            std::max(easel.session.source().facts().tasks - look.top, 0));
    if (!axis || chart.columns <= 0) return chart;
    const int line = chart.top + chart.rows;
    const Time apart = look.window.length() / 1000;
    grid.put(line, chart.left, moment_words(look.window.from, apart), kDim);
    const std::string to = moment_words(look.window.to, apart);
    if (chart.columns >= 3 * static_cast<int>(to.size())) {
        grid.put_right(line, size.columns, to, kDim);
        grid.put(line, chart.left + (chart.columns - static_cast<int>(to.size())) / 2,
                 moment_words(look.window.from + look.window.length() / 2, apart), kDim);
    }
    return chart;
}

void draw_labels(Grid& grid, const Look& look, const Easel& easel, const Chart& chart) {
    for (int row = 0; row < chart.rows; ++row) {
        const TaskId task = look.top + row;
        Style style = kDim;
        if (task == look.selected) style = {Ink::kStrong, 0, true};
        grid.put_right(chart.top + row, chart.left - 1, std::to_string(task), style);
    }
    const int more = easel.session.source().facts().tasks - look.top - chart.rows;
    if (more > 0) grid.put_right(0, grid.size().columns, fmt::format(" {} more below", more), kDim);
}

void draw_now(Grid& grid, const Look& look, const Chart& chart) {
    const int column = std::min(chart.column(look.now), chart.columns - 1);
    if (column < 0) return;
    for (int line = chart.top; line < chart.top + chart.rows; ++line) {
        const markers::Cell& cell = grid.at(line, chart.left + column);
        Style style = cell.style;
        style.selected = true;
        grid.put(line, chart.left + column, cell.glyph, style);
    }
}

void draw_timeline(Grid& grid, const Look& look, const Easel& easel) {
    const Chart chart = chart_of(grid, look, easel);
    if (chart.columns <= 0) return;
    const auto rows =
        easel.session.bins(look.window, look.top, static_cast<std::size_t>(chart.rows),
                           static_cast<std::size_t>(chart.columns));
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t column = 0; column < rows[row].size(); ++column) {
            const State state = most_of(rows[row][column]);
            grid.put(chart.top + static_cast<int>(row), chart.left + static_cast<int>(column),
                     glyph_of(state, easel.glyphs), style_of(state));
        }
    if (look.lines)
        for (const Message& message : easel.session.messages(look.window, kMostLines))
            draw_message(grid, message, look, chart, easel.glyphs);
    draw_labels(grid, look, easel, chart);
    draw_now(grid, look, chart);
    int at = 14;
    for (std::size_t i = 1; i < kStates; ++i) {
        const auto state = static_cast<State>(i);
        const int end = at + 3 + static_cast<int>(state_word(state).size());
        if (end + 14 > grid.size().columns) break;
        grid.put(0, at, glyph_of(state, easel.glyphs), style_of(state));
        grid.put(0, at + 2, state_word(state), kDim);
        at = end + 1;
    }
}

// Figure 9 of the paper: what is sent streams from the right to the left as time goes by. Heights
// are bytes, or messages, by column; what is on its way at the right edge has not arrived.
void draw_stream(Grid& grid, const Look& look, const Easel& easel) {
    Look shifted = look;
    const Time length = look.window.length();
    shifted.window = {look.now - length, look.now};
    const Chart chart = chart_of(grid, shifted, easel);
    if (chart.columns <= 0 || chart.rows <= 0) return;
    std::vector<std::vector<double>> sums(
        static_cast<std::size_t>(chart.rows),
        std::vector<double>(static_cast<std::size_t>(chart.columns)));
    double most = 0;
    constexpr std::size_t kMost = 200'000;
    for (const Message& message : easel.session.messages(shifted.window, kMost)) {
        const int row = message.from - look.top;
        if (row < 0 || row >= chart.rows) continue;
        const int first = std::max(chart.column(message.sent), 0);
        const int last = std::min(chart.column(message.received), chart.columns - 1);
        for (int column = first; column <= last; ++column) {
            double& sum = sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
            sum += look.count ? 1 : static_cast<double>(message.bytes);
            most = std::max(most, sum);
        }
    }
    for (int row = 0; row < chart.rows; ++row)
        for (int column = 0; column < chart.columns; ++column) {
            const double sum =
                sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
            if (sum > 0)
                grid.put(chart.top + row, chart.left + column,
                         level_glyph(sum / most, easel.glyphs), style_of(State::kSending));
        }
    grid.put(0, 14,
             fmt::format("sent by each task; full height {}{}", amount_words(most),
                         look.count ? " messages" : " bytes"),
             kDim);
    draw_labels(grid, look, easel, chart);
}

}  // namespace poe::trace
