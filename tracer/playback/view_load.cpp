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

// A spoke for each task, the first upwards, then clockwise: o on average so far, a full one now.
void draw_dial(Grid& grid, int left, int columns, const std::vector<double>& now,
               const std::vector<double>& average, const markers::Glyphs& glyphs) {
    const int lines = grid.size().lines - 1;
    const double radius =
        std::min(static_cast<double>(lines) / 2.0, static_cast<double>(columns) / 4.0) - 0.5;
    if (radius < 3 || now.empty()) return;
    const double middle_line = 1 + static_cast<double>(lines) / 2.0;
    const double middle = left + static_cast<double>(columns) / 2.0;
    const auto put = [&](double angle, double share, char32_t glyph, Style style) {
        const double far = share * radius;
        grid.put(static_cast<int>(std::lround(middle_line - std::cos(angle) * far)),
                 static_cast<int>(std::lround(middle + 2 * std::sin(angle) * far)), glyph, style);
    };
    for (int i = 0; i < 60; ++i) put(2 * std::numbers::pi * i / 60, 1, glyphs.unlit(), kDim);
    for (std::size_t task = 0; task < now.size(); ++task) {
        const double angle =
            2 * std::numbers::pi * static_cast<double>(task) / static_cast<double>(now.size());
        put(angle, average[task], U'o', kDim);
        put(angle, now[task], glyphs.unicode() ? U'●' : U'*', style_of(State::kComputing));
    }
}

struct CallListener : Listener {
    explicit CallListener(Stretch s) : stretch(s) {}
    void on_interval(const Interval& interval) override {
        if (interval.to < stretch.from) return;
        CallSum& sum = sums[interval.frame.region];
        ++sum.calls;
        sum.time += interval.self();
        sum.longest = std::max(sum.longest, interval.to - interval.frame.since);
    }
    void on_wait(const Wait& wait) override {
        if (wait.to < stretch.from) return;
        WaitSum& sum = waits[{wait.task, wait.whom, wait.why}];
        ++sum.count;
        sum.time += wait.to - wait.from;
    }
    Stretch stretch;
    std::map<std::uint32_t, CallSum> sums;
    std::map<std::tuple<TaskId, TaskId, Wait::Why>, WaitSum> waits;
};

// Who has waited for whom, the longest first, from a line on.
void draw_waits(Grid& grid, const CallListener& listener, int line) {
    std::vector<WaitSum> waits;
    for (auto [key, sum] : listener.waits) {
        std::tie(sum.task, sum.whom, sum.why) = key;
        waits.push_back(sum);
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
}

}  // namespace

void draw_balance(Grid& grid, const Look& look, const Easel& easel) {
    const auto spent_now = easel.session.spent(lately(look));
    const auto spent_all = easel.session.spent({easel.session.whole().from, look.now});
    std::vector<double> now, average;
    for (const auto& spent : spent_now) now.push_back(load_of(spent));
    for (const auto& spent : spent_all) average.push_back(load_of(spent));
    const bool dial = grid.size().columns >= 70 && grid.size().lines >= 12;
    const int columns = dial ? grid.size().columns / 2 : grid.size().columns;
    const int width = columns - 22;
    grid.put(0, 14, "share of computing: now (bar), so far (mark)", kDim);
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
    if (dial) draw_dial(grid, columns, grid.size().columns - columns, now, average, easel.glyphs);
}

void draw_utilization(Grid& grid, const Look& look, const Easel& easel) {
    constexpr int kLeft = 6;
    const int columns = grid.size().columns - kLeft;
    const int lines = grid.size().lines - 2;
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
    const Chart chart{kLeft, columns, 1, lines, look.window};
    for (int column = 0; column < columns; ++column) {
        const double level = share(bins[static_cast<std::size_t>(column)]);
        sum += level;
        peak = std::max(peak, level);
        if (column == std::min(chart.column(look.now), columns - 1)) now = level;
        for (int line = 0; line < lines; ++line) {
            const double part = std::clamp(level * lines - line, 0.0, 1.0);
            if (part > 0)
                grid.put(lines - line, kLeft + column, level_glyph(part, easel.glyphs),
                         style_of(State::kComputing));
        }
    }
    grid.put_right(1, kLeft - 1, "100%", kDim);
    grid.put_right(lines, kLeft - 1, "0%", kDim);
    draw_now(grid, look, chart);
    const Time apart = look.window.length() / 1000;
    grid.put(lines + 1, kLeft, moment_words(look.window.from, apart), kDim);
    if (columns > 30)
        grid.put_right(lines + 1, grid.size().columns, moment_words(look.window.to, apart), kDim);
    grid.put(0, 14,
             fmt::format("tasks that compute: now {}, average {}, peak {}", percent_words(now),
                         percent_words(sum / columns), percent_words(peak)),
             kDim);
}

void draw_calls(Grid& grid, const Look& look, const Easel& easel) {
    const Stretch stretch{look.window.from, look.now};
    CallListener listener(stretch);
    easel.session.listen(stretch, listener);
    std::vector<CallSum> calls;
    for (auto& [region, sum] : listener.sums) {
        sum.name = easel.session.definitions().region(region).name;
        sum.state = easel.session.definitions().region(region).state;
        calls.push_back(sum);
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
    draw_waits(grid, listener, line + 1);
}

}  // namespace poe::trace
