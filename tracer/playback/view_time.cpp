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

// Answers what it leaves out, if it does.
std::string draw_lines(Grid& grid, const Look& look, const Easel& easel, const Chart& chart) {
    const auto messages = easel.session.messages(look.window, kMostLines + 1);
    for (std::size_t i = 0; i < std::min(messages.size(), kMostLines); ++i)
        draw_message(grid, messages[i], look, chart, easel.glyphs);
    const bool of_end = easel.session.step_of_sums(look.window).has_value();
    if (messages.size() <= kMostLines && !of_end) return "";
    return fmt::format("lines of the first {} messages{}; z shows less time, with all", kMostLines,
                       of_end ? " at the end" : "");
}

}  // namespace

int Chart::column(Time moment) const {
    const double share =
        seconds_of(moment - window.from) / std::max(seconds_of(window.length()), 1e-9);
    const double at = share * columns;
    return static_cast<int>(std::clamp(std::floor(at), -1e6, 1e6));
}

Chart place_of_chart(markers::Size size, const Look& look, int tasks) {
    const int digits = static_cast<int>(std::to_string(std::max(tasks - 1, 0)).size());
    Chart chart;
    chart.window = look.window;
    chart.left = std::min(std::max(digits, 4) + 1, size.columns);
    chart.columns = size.columns - chart.left;
    const int axis = size.lines > 4 ? 1 : 0;
    chart.rows = std::clamp(size.lines - 1 - axis, 0, std::max(tasks - look.top, 0));
    return chart;
}

Chart chart_of(Grid& grid, const Look& look, const Easel& easel) {
    const markers::Size size = grid.size();
    const Chart chart = place_of_chart(size, look, easel.session.source().facts().tasks);
    const bool axis = size.lines > 4;
    if (!axis || chart.columns <= 0) return chart;
    const int line = chart.top + chart.rows;
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

std::string step_words(const Easel& easel, Stretch window, int columns) {
    const auto step = easel.session.step_of_sums(window);
    return step && *step > window.length() / columns ? ", in steps of " + span_words(*step) : "";
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
    const std::string note = look.lines ? draw_lines(grid, look, easel, chart) : "";
    draw_labels(grid, look, easel, chart);
    draw_now(grid, look, chart);
    const bool more = look.top + chart.rows < easel.session.source().facts().tasks;
    int at = 14;
    if (!note.empty()) {
        grid.put(0, at, note, kDim);
        return;
    }
    for (std::size_t i = 1; i < kStates; ++i) {
        const auto state = static_cast<State>(i);
        const int end = at + 3 + static_cast<int>(state_word(state).size());
        if (end + (more ? 14 : 0) > grid.size().columns) break;
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
    double most = 0;
    const auto sums =
        easel.session.sent(shifted.window, look.top, static_cast<std::size_t>(chart.rows),
                           static_cast<std::size_t>(chart.columns));
    const auto height = [&look](const Session::Sent& sent) {
        return look.count ? sent.messages : sent.bytes;
    };
    for (const auto& row : sums)
        for (const Session::Sent& sent : row) most = std::max(most, height(sent));
    for (std::size_t row = 0; row < sums.size(); ++row)
        for (std::size_t column = 0; column < sums[row].size(); ++column)
            if (const double sum = height(sums[row][column]); sum > 0)
                grid.put(chart.top + static_cast<int>(row), chart.left + static_cast<int>(column),
                         level_glyph(sum / most, easel.glyphs), style_of(State::kSending));
    grid.put(0, 14,
             fmt::format("sent by each task; full height {}{}", amount_words(most),
                         look.count ? " messages" : " bytes"),
             kDim);
    draw_labels(grid, look, easel, chart);
}

}  // namespace poe::trace
