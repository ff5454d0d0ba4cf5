// Views of the distribution of work: load balance (bars, and the dial of Figure 8), utilization,
// calls.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/stack.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::kStrong;
using terminal::Style;

namespace {

constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);

// The layout of the dial in a view of that size. Spokes start in the centre; the first points up,
// the others follow clockwise. A column is half as wide as a line is high.
struct Dial {
    explicit Dial(terminal::Size size)
        : lines(size.lines - 1),
          left(size.columns / 2),
          columns(size.columns - left),
          radius(std::min(lines / 2.0, columns / 4.0) - 0.5),
          middle_line(1 + lines / 2.0),
          middle(left + columns / 2.0) {}
    static double angle_of(std::size_t spoke, std::size_t spokes) {
        return 2 * std::numbers::pi * static_cast<double>(spoke) / static_cast<double>(spokes);
    }
    int lines;
    int left;
    int columns;
    double radius;
    double middle_line;
    double middle;
};

// Draws one spoke per row: o at its sums, a filled circle at its current value.
void draw_dial(Grid& grid, const ViewState& look, const Balance& load, const Chart& rows,
               const terminal::Glyphs& glyphs) {
    constexpr double kLeast = 3;
    const Dial dial(grid.size());
    const std::size_t spokes = load.now.size();
    if (dial.radius < kLeast || spokes == 0) return;
    const auto put = [&](double angle, double share, char32_t glyph, Style style) {
        const double far = share * dial.radius;
        grid.put(static_cast<int>(std::lround(dial.middle_line - std::cos(angle) * far)),
                 static_cast<int>(std::lround(dial.middle + 2 * std::sin(angle) * far)), glyph,
                 style);
    };
    for (int i = 0; i < 60; ++i) put(2 * std::numbers::pi * i / 60, 1, glyphs.unlit(), kDim);
    // With few spokes there is room to draw them with their numbers.
    constexpr std::size_t kFew = 16;
    constexpr int kTicks = 5;
    for (std::size_t spoke = 0; spoke < spokes && spokes <= kFew; ++spoke) {
        const double angle = Dial::angle_of(spoke, spokes);
        for (int tick = 1; tick < kTicks; ++tick)
            put(angle, static_cast<double>(tick) / kTicks, glyphs.unlit(), kDim);
        grid.put(static_cast<int>(std::lround(dial.middle_line - std::cos(angle) * dial.radius)),
                 static_cast<int>(std::lround(dial.middle + 2 * std::sin(angle) * dial.radius)),
                 std::to_string(rows.task_of(static_cast<int>(spoke))), kStrong);
    }
    for (std::size_t spoke = 0; spoke < spokes; ++spoke) {
        const double angle = Dial::angle_of(spoke, spokes);
        put(angle, load_of(load.sums[spoke]), U'o', kDim);
        Style style = style_of(State::kComputing);
        style.selected = rows.row_of(look.selected) == static_cast<int>(spoke);
        put(angle, load_of(load.now[spoke]), glyphs.unicode() ? U'●' : U'*', style);
    }
}

// Lists which task has waited for which, longest first, from a line on.
void draw_waits(Grid& grid, const Ended& sums, int line) {
    std::vector<WaitSum> waits;
    for (const auto& [key, sum] : sums.waits) {
        const auto& [task, whom, why] = key;
        waits.push_back({why, task, whom, sum.count, sum.time});
    }
    if (waits.empty()) return;
    std::stable_sort(waits.begin(), waits.end(),
                     [](const WaitSum& a, const WaitSum& b) { return a.time > b.time; });
    grid.put(line++, 1, fmt::format("{:<20} {:>7} {:>10}", "WAITING", "COUNT", "TIME"), kDim);
    for (const WaitSum& wait : waits)
        grid.put(line++, 1,
                 fmt::format("{:<20} {:>7} {:>10}  {}",
                             fmt::format("task {} for {}", wait.task, wait.whom),
                             amount_words(static_cast<double>(wait.count)), span_words(wait.time),
                             why_word(wait.why)));
    tell_rest(grid, line);
}

// Draws a table of the time of all tasks by state. Returns the line after the table and a blank
// line.
int draw_states(Grid& grid, const ViewContext& easel, Stretch stretch) {
    const std::size_t tasks = easel.session.source().facts().node_of.size();
    const auto bins = easel.session.part_bins(stretch, 0, tasks, tasks, 1);
    const PartTimes all = bins.empty() ? PartTimes{} : bins.front().front();
    const Time whole = traced_of(all);
    int line = 1;
    grid.put(line++, 1, fmt::format("{:<20} {:>7} {:>10}", "STATE", "SHARE", "TIME"), kDim);
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        if (all[part] <= Time{0}) continue;
        grid.put(line, 1, glyph_of_part(part, easel), style_of_part(part));
        grid.put(line++, 3,
                 fmt::format("{:<18} {:>7} {:>10}", easel.session.parts().name(part),
                             percent_words(seconds_of(all[part]) / seconds_of(whole)),
                             span_words(all[part])));
    }
    return line + 1;
}

}  // namespace

double load_of(const PartTimes& times) {
    const Time whole = traced_of(times);
    return whole <= Time{0} ? 0 : seconds_of(computing_of(times)) / seconds_of(whole);
}

Balance balance_of(const ViewState& look, Session& session, const Chart& rows) {
    Balance load;
    const auto take = [&](Stretch stretch, std::vector<PartTimes>& to) {
        for (const PartBins& row :
             session.part_bins(stretch, rows.first, static_cast<std::size_t>(rows.tasks()),
                               static_cast<std::size_t>(rows.group), 1))
            to.push_back(row.front());
    };
    take(lately(look, session), load.now);
    take(stretch_of(look, session), load.sums);
    return load;
}

bool has_dial(terminal::Size size) {
    constexpr terminal::Size kLeast{70, 12};
    return size.columns >= kLeast.columns && size.lines >= kLeast.lines;
}

int spoke_at(terminal::Size size, int line, int column, int spokes) {
    const Dial dial(size);
    const double angle = std::atan2((column - dial.middle) / 2, dial.middle_line - line);
    const double turn = angle / (2 * std::numbers::pi);
    return static_cast<int>(std::lround((turn < 0 ? turn + 1 : turn) * spokes)) % spokes;
}

Chart place_of_balance(terminal::Size size, const ViewState& look, int tasks) {
    constexpr int kHighest = 3;  // a higher row shows no more information
    const int lines = size.lines - 1;
    Chart rows = rows_of_tasks(std::min(lines, tasks * (kHighest + 1)), look, tasks);
    const int digits = static_cast<int>(std::to_string(std::max(tasks - 1, 0)).size());
    rows.left = rows.group > 1 ? std::max(2 * digits + 2, 6) : std::max(digits + 1, 6);
    const int columns = has_dial(size) ? size.columns / 2 : size.columns;
    constexpr int kNumbers = 16;
    rows.columns = columns - rows.left - kNumbers;
    return rows;
}

void draw_balance(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const int tasks = easel.session.source().facts().tasks;
    const Chart rows = place_of_balance(grid.size(), look, tasks);
    const Balance load = balance_of(look, easel.session, rows);
    const bool dial = has_dial(grid.size());
    const char* full = easel.glyphs.unicode() ? "●" : "*";
    const char* mark = easel.glyphs.unicode() ? "┃" : "|";
    grid.put(0, 14,
             fmt::format("share of computing {} (bar{}), just now ({}{}{})", sums_words(look),
                         dial ? ", o" : "", mark, dial ? ", " : "", dial ? full : ""),
             kDim);
    draw_labels(grid, look, easel, rows);
    const int columns = rows.left + rows.columns + 16;
    for (int row = 0; row < rows.rows; ++row) {
        const auto at = static_cast<std::size_t>(row);
        if (at >= load.now.size()) break;
        const double now = load_of(load.now[at]);
        for (int i = 0; i < rows.height && rows.columns > 0; ++i) {
            const int line = rows.line_of(row) + i;
            const Time whole = traced_of(load.sums[at]);
            draw_bar(grid, easel, line, rows.left, rows.columns, load.sums[at], whole);
            const int column =
                rows.left + std::min(static_cast<int>(now * rows.columns), rows.columns - 1);
            grid.put(line, column, easel.glyphs.unicode() ? U'┃' : U'|', kStrong);
        }
        grid.put_right(rows.line_of(row), columns - 8, percent_words(load_of(load.sums[at])));
        grid.put_right(rows.line_of(row), columns - 1, percent_words(now), kDim);
    }
    if (dial) draw_dial(grid, look, load, rows, easel.glyphs);
}

Chart place_of_utilization(terminal::Size size, const ViewState& look) {
    constexpr int kLeft = 6;
    Chart chart;
    chart.left = kLeft;
    chart.columns = size.columns - kLeft;
    chart.rows = 1;
    chart.height = size.lines - 2;
    chart.window = look.window;
    return chart;
}

void draw_utilization(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const Chart chart = place_of_utilization(grid.size(), look);
    const int columns = chart.columns;
    const int lines = chart.height;
    const int left = chart.left;
    if (columns <= 0 || lines <= 0) return;
    const StateBins bins =
        easel.session.sum_of_bins(look.window, static_cast<std::size_t>(columns));
    const Time column_length = look.window.length() / columns;
    const auto tasks = static_cast<double>(std::max(easel.session.source().facts().tasks, 1));
    const auto share = [&](const std::array<Time, kStates>& bin) {
        const double whole = seconds_of(column_length) * tasks;
        return whole <= 0 ? 0.0 : std::min(seconds_of(bin[kComputing]) / whole, 1.0);
    };
    double sum = 0, peak = 0, now = 0;
    for (int column = 0; column < columns; ++column) {
        const double level = share(bins[static_cast<std::size_t>(column)]);
        sum += level;
        peak = std::max(peak, level);
        if (column == std::min(chart.column(look.now), columns - 1)) now = level;
        for (int line = 0; line < lines; ++line) {
            const double part = std::clamp(level * lines - line, 0.0, 1.0);
            if (part > 0)
                grid.put(lines - line, left + column, level_glyph(part, easel.glyphs),
                         style_of(State::kComputing));
        }
    }
    // Draws the average as a line in the blank cells.
    const double average = sum / columns;
    const int level = lines - static_cast<int>(std::clamp(average * lines, 0.0, lines - 1.0));
    for (int column = 0; column < columns; ++column)
        if (grid.at(level, left + column).glyph == U' ')
            grid.put(level, left + column, easel.glyphs.unicode() ? U'┄' : U'-', kDim);
    if (level > 1 && level < lines) grid.put_right(level, left - 1, "avg", kDim);
    grid.put_right(1, left - 1, "100%", kDim);
    grid.put_right(lines, left - 1, "0%", kDim);
    draw_now(grid, look, easel, chart);
    const Time apart = look.window.length() / 1000;
    grid.put(lines + 1, left,
             moment_words(look.window.from, apart) + step_words(easel, look.window, columns), kDim);
    if (columns > 30)
        grid.put_right(lines + 1, grid.size().columns, moment_words(look.window.to, apart), kDim);
    grid.put(0, 14,
             fmt::format("tasks that compute: now {}, average {}, peak {}", percent_words(now),
                         percent_words(average), percent_words(peak)),
             kDim);
}

void draw_calls(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const Stretch stretch = stretch_of(look, easel.session);
    const Ended sums = easel.session.ended(stretch);
    std::vector<std::pair<std::uint32_t, Ended::Calls>> calls(sums.calls.begin(), sums.calls.end());
    std::stable_sort(calls.begin(), calls.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    grid.put(0, 14, fmt::format("states, and calls and regions that ended {}", sums_words(look)),
             kDim);
    int line = draw_states(grid, easel, stretch);
    grid.put(line++, 1,
             fmt::format("{:<20} {:>7} {:>10} {:>10} {:>10}", "CALL", "COUNT", "TIME", "AVERAGE",
                         "LONGEST"),
             kDim);
    for (const auto& [number, sum] : calls) {
        const Region& region = easel.session.definitions().region(number);
        grid.put(line++, 1,
                 fmt::format("{:<20} {:>7} {:>10} {:>10} {:>10}", region.name,
                             amount_words(static_cast<double>(sum.count)), span_words(sum.time),
                             span_words(sum.time / static_cast<std::int64_t>(sum.count)),
                             span_words(sum.longest)),
                 region.of_user ? style_of_part(easel.session.parts().of_region(number))
                                : style_of(region.state));
    }
    draw_waits(grid, sums, line + 1);
}

}  // namespace poe::trace
