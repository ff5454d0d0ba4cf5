// Views with rows of tasks and time from left to right: the time line, the streaming chart.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/chart.hpp"
#include "tracer/playback/stack.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {

constexpr Style kLine{Ink::kStrong, 0, false};

char32_t slope(int from_line, int to_line, int from_column, int to_column,
               const terminal::Glyphs& glyphs) {
    const int down = to_line - from_line;
    const int right = to_column - from_column;
    if (std::abs(down) > 2 * std::abs(right)) return glyphs.unicode() ? U'│' : U'|';
    if (down == 0) return glyphs.unicode() ? U'─' : U'-';
    if (down > 0) return glyphs.unicode() ? U'╲' : U'\\';
    return glyphs.unicode() ? U'╱' : U'/';
}

// Returns the row of a task, on the chart or beyond its edges.
int row_beyond(const Chart& chart, TaskId task) {
    const int from_first = task - chart.first;
    return from_first >= 0 ? from_first / chart.group : from_first;
}

// Draws a glyph in front of the contents of a cell.
void put_over(Grid& grid, int line, int column, char32_t glyph, const ViewContext& easel) {
    Style style = kLine;
    const terminal::Cell& cell = grid.at(line, column);
    const bool filled = cell.glyph >= U'▄' && cell.glyph <= U'█';
    if (easel.blocks() && cell.style.back == Ink::kPlain && filled) {
        style.back = cell.style.ink;
        style.back_value = cell.style.value;
    } else if (easel.blocks()) {
        style.back = cell.style.back;
        style.back_value = cell.style.back_value;
    }
    grid.put(line, column, glyph, style);
}

void draw_message(Grid& grid, const Message& message, const ViewState& look, const Chart& chart,
                  const ViewContext& easel) {
    const int from_line = chart.line_of(row_beyond(chart, message.from)) + chart.height / 2;
    const int to_line = chart.line_of(row_beyond(chart, message.to)) + chart.height / 2;
    const int from = chart.column(message.sent);
    const int to = chart.column(message.received);
    const int steps = std::max({std::abs(to_line - from_line), std::abs(to - from), 1});
    const char32_t shape = slope(from_line, to_line, from, to, easel.glyphs);
    for (int step = 0; step <= steps; ++step) {
        const double way = static_cast<double>(step) / steps;
        const int line = from_line + static_cast<int>(std::lround((to_line - from_line) * way));
        const int column = from + static_cast<int>(std::lround((to - from) * way));
        if (!chart.row_at(line) || column < 0 || column >= chart.columns) continue;
        const bool end = step == steps && message.received < look.window.to;
        const char32_t head = easel.glyphs.unicode() ? U'◉' : U'@';
        put_over(grid, line, chart.left + column, end ? head : shape, easel);
    }
}

// The messages in progress by rows and columns, and their maximum.
struct Density {
    std::vector<std::vector<Session::Sent>> rows;
    Session::Sent most;
};

Density density_of(const ViewState& look, Session& session, const Chart& chart) {
    Density density;
    density.rows.assign(static_cast<std::size_t>(chart.rows),
                        std::vector<Session::Sent>(static_cast<std::size_t>(chart.columns)));
    const int tasks = std::min(chart.tasks(), session.source().facts().tasks - chart.first);
    const auto sent =
        session.sent(look.window, chart.first, static_cast<std::size_t>(std::max(tasks, 0)),
                     static_cast<std::size_t>(chart.columns));
    for (std::size_t task = 0; task < sent.size(); ++task)
        for (std::size_t column = 0; column < sent[task].size(); ++column) {
            Session::Sent& sum = density.rows[task / static_cast<std::size_t>(chart.group)][column];
            sum.bytes += sent[task][column].bytes;
            sum.messages += sent[task][column].messages;
            density.most.bytes = std::max(density.most.bytes, sum.bytes);
            density.most.messages = std::max(density.most.messages, sum.messages);
        }
    return density;
}

// Draws a strip of levels below each row, or on the row if it has a single line.
void draw_density(Grid& grid, const Density& density, const ViewContext& easel,
                  const Chart& chart) {
    for (int row = 0; row < chart.rows; ++row)
        for (int column = 0; column < chart.columns; ++column) {
            const auto& sum =
                density.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
            if (sum.messages <= 0) continue;
            const char32_t glyph = level_glyph(sum.messages / density.most.messages, easel.glyphs);
            const int line = chart.line_of(row) + chart.height - (chart.gap > 0 ? 0 : 1);
            put_over(grid, line, chart.left + column, glyph, easel);
        }
}

// Regions by task and depth: the time in each of them, by columns.
class Lanes {
  public:
    Lanes(const ViewState& look, Session& session, const Chart& chart) : session_(session) {
        if (chart.group > 1 || chart.height < 2 || chart.columns <= 0) return;
        const auto found =
            session.nested(look.window, chart.first, static_cast<std::size_t>(chart.rows));
        for (const Session::Nested& region : found)
            depth_ = std::max(depth_, static_cast<int>(region.depth) + 1);
        depth_ = std::min(depth_, chart.height - 1);
        const double width = seconds_of(look.window.length()) / chart.columns;
        for (const Session::Nested& region : found) {
            if (static_cast<int>(region.depth) >= depth_) continue;
            auto& lane = lanes_[{region.task, static_cast<int>(region.depth)}];
            lane.resize(static_cast<std::size_t>(chart.columns));
            const double from = seconds_of(region.from - look.window.from) / width;
            const double to = seconds_of(region.to - look.window.from) / width;
            const int last = std::min(static_cast<int>(to), chart.columns - 1);
            for (int column = std::max(static_cast<int>(from), 0); column <= last; ++column)
                lane[static_cast<std::size_t>(column)][region.region] +=
                    std::min(to, column + 1.0) - std::max(from, static_cast<double>(column));
        }
    }
    // The number of lines of each row that regions use.
    int depth() const { return depth_; }

    void draw(Grid& grid, const Chart& chart, const ViewContext& easel) const {
        for (const auto& [key, lane] : lanes_) {
            const int line = chart.line_of(key.first - chart.first) + key.second;
            std::uint32_t before = 0;
            int begun = 0;
            for (int column = 0; column <= chart.columns; ++column) {
                const auto [region, share] = column < chart.columns
                                                 ? most_of(lane[static_cast<std::size_t>(column)])
                                                 : std::pair<std::uint32_t, double>{0, 0};
                if (region != 0) {
                    const std::size_t part = session_.part_of_nested(region);
                    const bool begins = region != before && is_round(region);
                    grid.put(line, chart.left + column,
                             begins           ? U'|'
                             : easel.blocks() ? level_glyph(share, easel.glyphs)
                                              : glyph_of_part(part, easel),
                             style_of_part(part));
                }
                if (region == before) continue;
                if (before != 0 && (easel.blocks() || is_round(before)))
                    draw_name(grid, line, chart.left + begun, column - begun, before);
                before = region;
                begun = column;
            }
        }
    }

  private:
    using Column = std::map<std::uint32_t, double>;

    static std::pair<std::uint32_t, double> most_of(const Column& column) {
        std::uint32_t best = 0;
        double most = 0;
        double sum = 0;
        for (const auto& [region, share] : column) {
            sum += share;
            if (share > most) best = region;
            most = std::max(most, share);
        }
        return {best, std::min(sum, 1.0)};
    }
    // All rounds have the colour of collective calls, so a line stands between them.
    bool is_round(std::uint32_t region) const {
        return !session_.definitions().region(region).of_user;
    }
    void draw_name(Grid& grid, int line, int column, int width, std::uint32_t region) const {
        const std::string& name = session_.definitions().region(region).name;
        if (terminal::columns_of(name) + 2 > width) return;
        Style style = style_of_part(session_.part_of_nested(region));
        style.selected = true;
        grid.put(line, column + 1, name, style);
    }

    Session& session_;
    int depth_ = 0;
    std::map<std::pair<TaskId, int>, std::vector<Column>> lanes_;
};

// Draws messages as lines if there is room for them, otherwise their number. Returns a description
// of what is shown.
std::string draw_messages(Grid& grid, const ViewState& look, const ViewContext& easel,
                          const Chart& chart, const std::vector<Message>& lines,
                          const Density& density) {
    if (density.rows.empty()) {
        for (const Message& message : lines) draw_message(grid, message, look, chart, easel);
        return "";
    }
    draw_density(grid, density, easel, chart);
    return fmt::format("messages on their way, up to {}", amount_words(density.most.messages));
}

}  // namespace

void draw_timeline(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const Chart chart = chart_of(grid, look, easel);
    if (chart.columns <= 0 || chart.rows <= 0) return;
    std::vector<Message> lines;
    Density density;
    if (look.lines) {
        const auto room = static_cast<std::size_t>(chart.columns);
        const bool of_end = easel.session.step_of_sums(look.window).has_value();
        if (!of_end) lines = easel.session.messages(look.window, room + 1);
        if (of_end || lines.size() > room) density = density_of(look, easel.session, chart);
    }
    const Lanes lanes(look, easel.session, chart);
    const bool strip = !density.rows.empty() && chart.gap == 0 && chart.height - lanes.depth() > 1;
    const auto rows = easel.session.part_bins(
        look.window, chart.first, static_cast<std::size_t>(chart.tasks()),
        static_cast<std::size_t>(chart.group), static_cast<std::size_t>(chart.columns));
    PartTimes all{};
    const int tasks = easel.session.source().facts().tasks;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto at = static_cast<int>(row);
        const int group = std::min(chart.group, tasks - chart.task_of(at));
        const Time whole = look.window.length() * group / chart.columns;
        StackDrawer stack(grid, easel, chart.line_of(at) + lanes.depth(),
                          chart.height - lanes.depth() - (strip ? 1 : 0));
        for (std::size_t column = 0; column < rows[row].size(); ++column) {
            stack.draw(chart.left + static_cast<int>(column), rows[row][column], whole);
            for (std::size_t part = 0; part < kParts; ++part) all[part] += rows[row][column][part];
        }
    }
    lanes.draw(grid, chart, easel);
    std::string note;
    if (look.lines) note = draw_messages(grid, look, easel, chart, lines, density);
    draw_labels(grid, look, easel, chart);
    draw_now(grid, look, easel, chart);
    const bool more = chart.first + chart.tasks() < tasks;
    int end = grid.size().columns - (more ? 14 : 0);
    if (!note.empty()) {
        grid.put_right(0, end, note, kDim);
        end -= terminal::columns_of(note) + 1;
    }
    draw_legend(grid, easel, 0, 14, end, all);
}

// Figure 9 of the paper: messages stream from right to left as time passes. Heights are bytes, or
// numbers of messages, by column. Messages in progress at the right edge have not arrived.
void draw_stream(Grid& grid, const ViewState& look, const ViewContext& easel) {
    ViewState shifted = look;
    const Time length = look.window.length();
    shifted.window = {look.now - length, look.now};
    const Chart chart = chart_of(grid, shifted, easel);
    if (chart.columns <= 0 || chart.rows <= 0) return;
    const Density density = density_of(shifted, easel.session, chart);
    const double most = look.count ? density.most.messages : density.most.bytes;
    for (int row = 0; row < chart.rows; ++row)
        for (int column = 0; column < chart.columns; ++column) {
            const Session::Sent& sum =
                density.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
            const double height = (look.count ? sum.messages : sum.bytes) / most * chart.height;
            for (int line = 0; line < chart.height && height > line; ++line)
                grid.put(chart.line_of(row) + chart.height - 1 - line, chart.left + column,
                         level_glyph(std::min(height - line, 1.0), easel.glyphs),
                         style_of(State::kSending));
        }
    grid.put(0, 14,
             fmt::format("sent by each task; full height {}{}", amount_words(most),
                         look.count ? " messages" : " bytes"),
             kDim);
    draw_labels(grid, look, easel, chart);
}

}  // namespace poe::trace
