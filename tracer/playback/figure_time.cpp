// Figures with time from left to right: time line, streaming chart, utilization, system.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/figure_parts.hpp"
#include "tracer/playback/strips.hpp"

namespace poe::trace {
namespace {

// The rows of tasks: one per task, or one per several tasks if rows would be too flat.
struct TaskRows {
    int tasks = 0;
    int group = 1;
    int rows = 0;
    double height = 0;  // of a row, including the gap below it

    double of_box() const {
        constexpr double kGap = 0.18;
        constexpr double kFlat = 4;
        return height < kFlat ? height : height * (1 - kGap);
    }
    double top(const Plot& plot, int row) const { return plot.area.y + row * height; }
    // The vertical middle of a task's row.
    double middle(const Plot& plot, TaskId task) const {
        return top(plot, task / group) + of_box() / 2;
    }
};

// Returns rows of their natural height, or rows that share the chosen height.
TaskRows rows_for(int tasks, double height) {
    constexpr double kHighest = 36;
    constexpr double kFlattest = 1.5;
    constexpr double kUsual = 420;
    TaskRows rows;
    rows.tasks = std::max(tasks, 1);
    const double all = height > 0 ? height : kUsual;
    rows.group = std::max(1, static_cast<int>(std::ceil(rows.tasks * kFlattest / all)));
    rows.rows = (rows.tasks + rows.group - 1) / rows.group;
    rows.height = height > 0 ? all / rows.rows : std::min(all / rows.rows, kHighest);
    return rows;
}

struct TimeChart {
    Figure figure;
    Plot plot;
    TaskRows rows;
};

TimeChart chart_with_rows(FigureSize size, int tasks) {
    constexpr double kAround = 62;  // legend and axis
    TimeChart chart;
    const double chosen = size.height > 0 ? std::max(size.height - kAround, 10.0) : 0;
    chart.rows = rows_for(tasks, chosen);
    const double left = 28 + width_of(std::to_string(std::max(tasks - 1, 0)));
    chart.plot = plot_of(chart.figure, size, chart.rows.height * chart.rows.rows, left);
    return chart;
}

void add_task_axis(TimeChart& chart) {
    constexpr double kApart = 11;
    const auto& [tasks, group, rows, height] = chart.rows;
    int every = 1;
    for (const int step : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}) {
        every = step;
        if (height / group * step >= kApart) break;
    }
    for (TaskId task = 0; task < tasks; task += every)
        add_words(chart.figure, chart.plot.area.x - 5, chart.rows.middle(chart.plot, task) + 3,
                  std::to_string(task), Words::Align::kRight);
    add_left_title(chart.figure, chart.plot,
                   group > 1 ? fmt::format("task ({} to a row)", group) : "task");
}

double place_of(const Plot& plot, Stretch window, Time moment) {
    return plot.area.x + plot.area.width * seconds_of(moment - window.from) /
                             std::max(seconds_of(window.length()), 1e-12);
}

// Returns as many columns as are distinguishable on a printer or a screen.
std::size_t columns_of(const Plot& plot) {
    constexpr double kPerPoint = 2;
    return static_cast<std::size_t>(std::max(plot.area.width * kPerPoint, 1.0));
}

// Draws the regions above the states of each row, outermost on top. Returns how much of a row's
// height they need.
double add_regions(TimeChart& chart, const ViewState& look, Session& session) {
    constexpr double kLane = 4;
    if (chart.rows.group > 1) return 0;
    const double room = chart.rows.of_box();
    const auto regions = session.nested(look.window, 0, static_cast<std::size_t>(chart.rows.tasks));
    std::size_t depth = 0;
    for (const Session::Nested& region : regions) depth = std::max(depth, region.depth + 1);
    depth = std::min(depth, static_cast<std::size_t>(std::max(room / kLane - 2, 0.0)));
    for (const Session::Nested& region : regions) {
        if (region.depth >= depth) continue;
        const double from =
            place_of(chart.plot, look.window, std::max(region.from, look.window.from));
        const double to = place_of(chart.plot, look.window, std::min(region.to, look.window.to));
        add_box(
            chart.figure,
            {from,
             chart.rows.top(chart.plot, region.task) + kLane * static_cast<double>(region.depth),
             std::max(to - from, 0.1), kLane - 0.5},
            paper_color(session.part_of_nested(region.region)));
    }
    return kLane * static_cast<double>(depth);
}

// Draws lines from sender to receiver. If there are too many lines to distinguish, draws the number
// of messages in progress instead. Returns a description of what is shown.
std::string add_messages(TimeChart& chart, const ViewState& look, Session& session) {
    constexpr std::size_t kMostLines = 3000;
    constexpr terminal::Rgb kInk{0x11, 0x11, 0x11};
    const Plot& plot = chart.plot;
    if (!session.step_of_sums(look.window)) {
        const auto messages = session.messages(look.window, kMostLines + 1);
        if (messages.size() <= kMostLines) {
            for (const Message& message : messages)
                add_line(chart.figure,
                         place_of(plot, look.window, std::max(message.sent, look.window.from)),
                         chart.rows.middle(plot, message.from),
                         place_of(plot, look.window, std::min(message.received, look.window.to)),
                         chart.rows.middle(plot, message.to), kInk, 0.4);
            return "";
        }
    }
    const std::size_t columns = columns_of(plot) / 2;
    const auto sent =
        session.sent(look.window, 0, static_cast<std::size_t>(chart.rows.tasks), columns);
    double most = 0;
    for (const auto& row : sent)
        for (const Session::Sent& sum : row) most = std::max(most, sum.messages);
    const double wide = plot.area.width / static_cast<double>(columns);
    for (std::size_t task = 0; task < sent.size() && most > 0; ++task)
        for (std::size_t column = 0; column < columns; ++column) {
            const double high = chart.rows.of_box() / 3 * sent[task][column].messages / most;
            if (high <= 0) continue;
            const double bottom =
                chart.rows.middle(plot, static_cast<TaskId>(task)) + chart.rows.of_box() / 2;
            add_box(chart.figure,
                    {plot.area.x + wide * static_cast<double>(column), bottom - high, wide, high},
                    kInk);
        }
    return fmt::format("black: messages on their way, up to {}", amount_words(most));
}

}  // namespace

Figure figure_of_timeline(const ViewState& look, FigureSize size, const ViewContext& easel) {
    Session& session = easel.session;
    TimeChart chart = chart_with_rows(size, session.source().facts().tasks);
    const auto& rows = chart.rows;
    const auto bins =
        session.part_bins(look.window, 0, static_cast<std::size_t>(rows.tasks),
                          static_cast<std::size_t>(rows.group), columns_of(chart.plot));
    const double lanes = add_regions(chart, look, session);
    PartTimes all{};
    for (std::size_t row = 0; row < bins.size(); ++row) {
        const int at = static_cast<int>(row);
        const int group = std::min(rows.group, rows.tasks - at * rows.group);
        const Time whole =
            look.window.length() * group / static_cast<std::int64_t>(bins[row].size());
        add_stacks(chart.figure,
                   {chart.plot.area.x, rows.top(chart.plot, at) + lanes, chart.plot.area.width,
                    std::max(rows.of_box() - lanes, 0.0)},
                   bins[row], whole);
        for (const PartTimes& bin : bins[row])
            for (std::size_t part = 0; part < kParts; ++part) all[part] += bin[part];
    }
    if (look.lines)
        if (const std::string note = add_messages(chart, look, session); !note.empty())
            add_note(chart.figure, chart.plot, note);
    add_legend(chart.figure, chart.plot, all, easel);
    add_task_axis(chart);
    add_time_axis(chart.figure, chart.plot, look.window);
    return std::move(chart.figure);
}

Figure figure_of_stream(const ViewState& look, FigureSize size, const ViewContext& easel) {
    Session& session = easel.session;
    TimeChart chart = chart_with_rows(size, session.source().facts().tasks);
    const Plot& plot = chart.plot;
    const std::size_t columns = columns_of(plot) / 2;
    const auto sent =
        session.sent(look.window, 0, static_cast<std::size_t>(chart.rows.tasks), columns);
    const auto amount = [&look](const Session::Sent& sum) {
        return look.count ? sum.messages : sum.bytes;
    };
    double most = 0;
    for (const auto& row : sent)
        for (const Session::Sent& sum : row) most = std::max(most, amount(sum));
    const double wide = plot.area.width / static_cast<double>(columns);
    for (std::size_t task = 0; task < sent.size() && most > 0; ++task)
        for (std::size_t column = 0; column < columns; ++column) {
            const double high = chart.rows.of_box() * amount(sent[task][column]) / most;
            const double bottom =
                chart.rows.middle(plot, static_cast<TaskId>(task)) + chart.rows.of_box() / 2;
            if (high > 0)
                add_box(
                    chart.figure,
                    {plot.area.x + wide * static_cast<double>(column), bottom - high, wide, high},
                    paper_color(static_cast<std::size_t>(State::kSending)));
        }
    add_note(chart.figure, plot,
             fmt::format("on their way from each task; full height: {} {}", amount_words(most),
                         look.count ? "messages" : "bytes"));
    add_task_axis(chart);
    add_time_axis(chart.figure, plot, look.window);
    return std::move(chart.figure);
}

Figure figure_of_utilization(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr double kHeight = 200;
    Figure figure;
    const Plot plot = plot_of(figure, size, kHeight, 44);
    Session& session = easel.session;
    const std::size_t tasks = session.source().facts().node_of.size();
    const auto bins = session.part_bins(look.window, 0, tasks, tasks, columns_of(plot));
    if (!bins.empty()) {
        const Time whole = look.window.length() * static_cast<std::int64_t>(tasks) /
                           static_cast<std::int64_t>(bins[0].size());
        add_stacks(figure, plot.area, bins[0], whole);
        PartTimes all{};
        for (const PartTimes& bin : bins[0])
            for (std::size_t part = 0; part < kParts; ++part) all[part] += bin[part];
        add_legend(figure, plot, all, easel);
    }
    add_left_axis(figure, plot, 100, "tasks [%]");
    add_time_axis(figure, plot, look.window);
    return figure;
}

Figure figure_of_system(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr double kStrip = 34;
    constexpr double kLeft = 190;
    constexpr std::size_t kMost = 24;
    constexpr int kColumns = 500;
    const std::vector<StripRow> rows = strips_of(look, easel.session, kColumns);
    const std::size_t count = std::min(rows.size(), kMost);
    Figure figure;
    const Plot plot =
        plot_of(figure, size, kStrip * static_cast<double>(std::max<std::size_t>(count, 1)), kLeft);
    const double strip = plot.area.height / static_cast<double>(std::max<std::size_t>(count, 1));
    const double wide = plot.area.width / kColumns;
    for (std::size_t row = 0; row < count; ++row) {
        const double bottom = plot.area.y + strip * static_cast<double>(row + 1) - 4;
        const double high = std::max(strip - 8, 1.0);
        const double most = std::max(rows[row].highest(), 1e-30);
        for (std::size_t column = 0; column < rows[row].values.size(); ++column) {
            const double value = rows[row].values[column];
            if (!(value > 0)) continue;
            add_box(figure,
                    {plot.area.x + wide * static_cast<double>(column), bottom - high * value / most,
                     wide, high * value / most},
                    kBlue);
        }
        add_line(figure, plot.area.x, bottom, plot.right(), bottom, kPale);
        add_words(figure, plot.area.x - 8, bottom - high / 2 + 1, rows[row].name,
                  Words::Align::kRight);
        add_words(figure, plot.area.x - 8, bottom - high / 2 + 11,
                  fmt::format("up to {}", rows[row].most), Words::Align::kRight, kGrey, 7.5);
    }
    if (rows.empty())
        add_words(figure, plot.area.x, plot.area.y + 20,
                  "the trace has no counters in this window");
    if (rows.size() > count)
        add_note(figure, plot, fmt::format("{} more are not shown", rows.size() - count));
    add_time_axis(figure, plot, look.window);
    return figure;
}

}  // namespace poe::trace
