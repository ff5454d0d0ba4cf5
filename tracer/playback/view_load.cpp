// Views of how the work is spread: load balance (bars, and Figure 8's dial), utilization, calls.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {

using markers::Grid;
using markers::Ink;
using markers::Style;

namespace {

constexpr Style kDim{Ink::kDim, 0, false};
constexpr Style kStrong{Ink::kStrong, 0, false};
constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);

// The share of the time that tasks were traced in which they computed.
double load_of(const std::array<Time, kStates>& spent) {
    Time whole{0};
    for (std::size_t state = 1; state < kStates; ++state) whole += spent[state];
    return whole <= Time{0} ? 0 : seconds_of(spent[kComputing]) / seconds_of(whole);
}

// Around the moment: a fiftieth of the window before it.
Stretch lately(const Look& look) {
    constexpr int kPart = 50;
    return {std::max(look.window.from, look.now - look.window.length() / kPart), look.now};
}

// Where the dial is in a view of that size: spokes begin in the middle, the first goes upwards, the
// others follow clockwise. A column is half as wide as a line is high.
struct Dial {
    explicit Dial(markers::Size size)
        : lines(size.lines - 1),
          left(size.columns / 2),
          columns(size.columns - left),
          radius(std::min(lines / 2.0, columns / 4.0) - 0.5),
          middle_line(1 + lines / 2.0),
          middle(left + columns / 2.0) {}
    static double angle_of(std::size_t task, std::size_t tasks) {
        return 2 * std::numbers::pi * static_cast<double>(task) / static_cast<double>(tasks);
    }
    int lines;
    int left;
    int columns;
    double radius;
    double middle_line;
    double middle;
};

// o on average so far, a full one now.
void draw_dial(Grid& grid, const Look& look, const Balance& load, const markers::Glyphs& glyphs) {
    constexpr double kLeast = 3;
    const Dial dial(grid.size());
    if (dial.radius < kLeast || load.now.empty()) return;
    const auto put = [&](double angle, double share, char32_t glyph, Style style) {
        const double far = share * dial.radius;
        grid.put(static_cast<int>(std::lround(dial.middle_line - std::cos(angle) * far)),
                 static_cast<int>(std::lround(dial.middle + 2 * std::sin(angle) * far)), glyph,
                 style);
    };
    for (int i = 0; i < 60; ++i) put(2 * std::numbers::pi * i / 60, 1, glyphs.unlit(), kDim);
    // Few spokes have room for themselves and their numbers.
    constexpr std::size_t kFew = 16;
    constexpr int kTicks = 5;
    for (std::size_t task = 0; task < load.now.size() && load.now.size() <= kFew; ++task) {
        const double angle = Dial::angle_of(task, load.now.size());
        for (int tick = 1; tick < kTicks; ++tick)
            put(angle, static_cast<double>(tick) / kTicks, glyphs.unlit(), kDim);
        grid.put(static_cast<int>(std::lround(dial.middle_line - std::cos(angle) * dial.radius)),
                 static_cast<int>(std::lround(dial.middle + 2 * std::sin(angle) * dial.radius)),
                 std::to_string(task), kStrong);
    }
    for (std::size_t task = 0; task < load.now.size(); ++task) {
        const double angle = Dial::angle_of(task, load.now.size());
        put(angle, load.average[task], U'o', kDim);
        Style style = style_of(State::kComputing);
        style.selected = static_cast<TaskId>(task) == look.selected;
        put(angle, load.now[task], glyphs.unicode() ? U'●' : U'*', style);
    }
}

// Who has waited for whom, the longest first, from a line on.
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

}  // namespace

Balance balance_of(const Look& look, Session& session) {
    Balance load;
    for (const auto& spent : session.spent(lately(look))) load.now.push_back(load_of(spent));
    for (const auto& spent : session.spent({session.whole().from, look.now}))
        load.average.push_back(load_of(spent));
    return load;
}

bool has_dial(markers::Size size) {
    constexpr markers::Size kLeast{70, 12};
    return size.columns >= kLeast.columns && size.lines >= kLeast.lines;
}

TaskId task_of_spoke(markers::Size size, int line, int column, int tasks) {
    const Dial dial(size);
    const double angle = std::atan2((column - dial.middle) / 2, dial.middle_line - line);
    const double turn = angle / (2 * std::numbers::pi);
    return static_cast<TaskId>(std::lround((turn < 0 ? turn + 1 : turn) * tasks)) % tasks;
}

void draw_balance(Grid& grid, const Look& look, const Easel& easel) {
    const Balance load = balance_of(look, easel.session);
    const auto& [now, average] = load;
    const bool dial = has_dial(grid.size());
    const int columns = dial ? grid.size().columns / 2 : grid.size().columns;
    const int width = columns - 22;
    grid.put(0, 14,
             dial ? fmt::format("share of computing: now (bar, {}), so far (mark, o)",
                                easel.glyphs.unicode() ? "●" : "*")
                  : "share of computing: now (bar), so far (mark)",
             kDim);
    for (int line = 1; line < grid.size().lines; ++line) {
        const auto task = static_cast<std::size_t>(look.top + line - 1);
        if (task >= now.size()) break;
        const bool selected = look.selected == static_cast<TaskId>(task);
        grid.put_right(line, 5, std::to_string(task),
                       selected ? Style{Ink::kStrong, 0, true} : kDim);
        if (width > 0) {
            grid.put(line, 6, easel.glyphs.bar(width, now[task]), {Ink::kBar, 0, false});
            const int mark = 6 + std::min(static_cast<int>(average[task] * width), width - 1);
            grid.put(line, mark, easel.glyphs.unicode() ? U'┃' : U'|', kStrong);
        }
        grid.put_right(line, columns - 8, percent_words(now[task]));
        grid.put_right(line, columns - 1, percent_words(average[task]), kDim);
    }
    if (dial) draw_dial(grid, look, load, easel.glyphs);
}

Chart place_of_utilization(markers::Size size, const Look& look) {
    constexpr int kLeft = 6;
    return {kLeft, size.columns - kLeft, 1, size.lines - 2, look.window};
}

void draw_utilization(Grid& grid, const Look& look, const Easel& easel) {
    const Chart chart = place_of_utilization(grid.size(), look);
    const int columns = chart.columns;
    const int lines = chart.rows;
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
    // The average as a line behind the heights.
    const double average = sum / columns;
    const int level = lines - static_cast<int>(std::clamp(average * lines, 0.0, lines - 1.0));
    for (int column = 0; column < columns; ++column)
        if (grid.at(level, left + column).glyph == U' ')
            grid.put(level, left + column, easel.glyphs.unicode() ? U'┄' : U'-', kDim);
    if (level > 1 && level < lines) grid.put_right(level, left - 1, "avg", kDim);
    grid.put_right(1, left - 1, "100%", kDim);
    grid.put_right(lines, left - 1, "0%", kDim);
    draw_now(grid, look, chart);
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

void draw_calls(Grid& grid, const Look& look, const Easel& easel) {
    const Stretch stretch{look.window.from, look.now};
    const Ended sums = easel.session.ended(stretch);
    std::vector<CallSum> calls;
    for (const auto& [number, sum] : sums.calls) {
        const Region& region = easel.session.definitions().region(number);
        calls.push_back(
            {region.name, region.state, region.of_user, sum.count, sum.time, sum.longest});
    }
    std::sort(calls.begin(), calls.end(), [](const CallSum& a, const CallSum& b) {
        return a.time != b.time ? a.time > b.time : a.name < b.name;
    });
    grid.put(0, 14, "that ended since the window's begin", kDim);
    grid.put(1, 1,
             fmt::format("{:<20} {:>7} {:>10} {:>10} {:>10}", "CALL", "COUNT", "TIME", "AVERAGE",
                         "LONGEST"),
             kDim);
    int line = 2;
    for (const CallSum& call : calls)
        grid.put(line++, 1,
                 fmt::format("{:<20} {:>7} {:>10} {:>10} {:>10}", call.name,
                             amount_words(static_cast<double>(call.calls)), span_words(call.time),
                             span_words(call.time / static_cast<std::int64_t>(call.calls)),
                             span_words(call.longest)),
                 style_of(call.state));
    draw_waits(grid, sums, line + 1);
}

}  // namespace poe::trace
