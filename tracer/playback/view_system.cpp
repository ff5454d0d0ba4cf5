// The view of counters and of the system's statistics: a strip for each, over the window. Sums of
// the system are shown as rates; those of tasks all together, and the selected task's own.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {

using markers::Grid;
using markers::Ink;
using markers::Style;

namespace {

constexpr Style kDim{Ink::kDim, 0, false};

// "98%", "12M", "1.2K/s": what the highest of a strip is.
std::string value_words(std::size_t metric, double value) {
    switch (static_cast<Metric>(metric)) {
        case Metric::kCpuUser:
        case Metric::kCpuSystem:
            return percent_words(value / 1e9);
        case Metric::kMemory:
            return bytes_words(static_cast<Bytes>(value));
        case Metric::kDiskRead:
        case Metric::kDiskWritten:
        case Metric::kNetworkIn:
        case Metric::kNetworkOut:
            return bytes_words(static_cast<Bytes>(value)) + "/s";
        default:
            return amount_words(value) + "/s";
    }
}

// What a counter or a sum came to, by columns; NaN where nothing was told.
struct Strip {
    std::vector<double> values;
    std::optional<std::pair<Time, std::uint64_t>> last;  // of a sum
};

class Strips : public Listener {
  public:
    Strips(Session& session, const Chart& chart) : session_(session), chart_(chart) {}

    void on_event(const Event& event, TaskId task) override {
        const Record& record = event.record;
        if (record.kind == Kind::kCounter) {
            const double value = record.detail == 0
                                     ? std::bit_cast<double>(record.b)
                                     : static_cast<double>(static_cast<std::int64_t>(record.b));
            note(counters[{event.stream, session_.counter_number(event.stream, record.a)}],
                 event.time, value);
        } else if (record.kind == Kind::kSystem) {
            const bool of_node = task < 0 && record.a == kNobody;
            const Subject subject = of_node    ? -1 - session_.source().streams()[event.stream].node
                                    : task < 0 ? static_cast<Subject>(record.a)
                                               : task;
            note_sum({subject, record.detail}, event.time, record.b);
        }
    }
    // What is known at a moment, as if all of it were told then.
    void take(const JobState& state, Time time) {
        for (const auto& [key, value] : state.counters) note(counters[key], time, value);
        for (const auto& [key, value] : state.system) note_sum(key, time, value);
    }

    std::map<std::pair<std::uint32_t, std::uint32_t>, Strip> counters;  // stream, counter
    std::map<std::pair<Subject, std::uint8_t>, Strip> system;           // subject, Metric

  private:
    void note(Strip& to, Time time, double value) const {
        if (to.values.empty())
            to.values.assign(static_cast<std::size_t>(chart_.columns), std::nan(""));
        const int column = chart_.column(time);
        if (column >= 0 && column <= chart_.columns)
            to.values[static_cast<std::size_t>(std::min(column, chart_.columns - 1))] = value;
    }
    void note_sum(std::pair<Subject, std::uint8_t> key, Time time, std::uint64_t sum) {
        if (key.second == 0 || key.second >= kMetrics) return;
        Strip& to = system[key];
        if (key.second == static_cast<std::uint8_t>(Metric::kMemory))
            return note(to, time, static_cast<double>(sum));
        if (to.last && time > to.last->first && sum >= to.last->second)
            note(to, time,
                 static_cast<double>(sum - to.last->second) / seconds_of(time - to.last->first));
        if (!to.last || time > to.last->first) to.last = {time, sum};
    }

    Session& session_;
    const Chart& chart_;
};

struct Row {
    std::string name;
    std::vector<double> values;
    std::string most;  // in words
};

// A value stays until it is told anew.
void hold(std::vector<double>& values) {
    double last = std::nan("");
    for (double& value : values) {
        if (std::isnan(value)) value = last;
        last = value;
    }
}

double most_of(const std::vector<double>& values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::isnan(value) ? 0 : value);
    return most;
}

// All tasks together, then the nodes, then the selected task; then counters, its own first.
std::vector<Row> rows_of(Strips& strips, TaskId selected, Session& session) {
    std::vector<Row> rows;
    std::map<std::uint8_t, std::vector<double>> together;
    for (auto& [key, strip] : strips.system) {
        hold(strip.values);
        if (key.first < 0 || strip.values.empty()) continue;
        std::vector<double>& sums = together[key.second];
        if (sums.empty()) sums.assign(strip.values.size(), std::nan(""));
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (!std::isnan(strip.values[i]))
                sums[i] = std::isnan(sums[i]) ? strip.values[i] : sums[i] + strip.values[i];
    }
    const auto add = [&rows](std::uint8_t metric, const std::string& who,
                             const std::vector<double>& values) {
        if (!values.empty())
            rows.push_back({fmt::format("{} of {}", metric_word(metric), who), values,
                            value_words(metric, most_of(values))});
    };
    for (const auto& [metric, values] : together) add(metric, "all", values);
    const auto& nodes = session.source().facts().nodes;
    for (const auto& [key, strip] : strips.system) {
        const auto node = static_cast<std::size_t>(-1 - key.first);
        if (key.first < 0)
            add(key.second,
                "node " + (node < nodes.size() && !nodes[node].empty() ? nodes[node]
                                                                       : std::to_string(node)),
                strip.values);
    }
    for (const auto& [key, strip] : strips.system)
        if (key.first == selected) add(key.second, fmt::format("task {}", selected), strip.values);
    for (const bool own : {true, false})
        for (auto& [key, strip] : strips.counters) {
            if ((session.source().task_of(key.first) == selected) != own) continue;
            hold(strip.values);
            rows.push_back({fmt::format("{} of {}", session.definitions().counter(key.second),
                                        session.source().streams()[key.first].name()),
                            strip.values, amount_words(most_of(strip.values))});
        }
    return rows;
}

}  // namespace

Chart place_of_strips(markers::Size size, const Look& look) {
    constexpr int kName = 28;
    constexpr int kMost = 9;
    Chart chart;
    chart.left = kName;
    chart.columns = size.columns - kName - kMost;
    chart.window = look.window;
    return chart;
}

void draw_system(Grid& grid, const Look& look, const Easel& easel) {
    Chart chart = place_of_strips(grid.size(), look);
    if (chart.columns <= 0) return;
    Strips strips(easel.session, chart);
    if (easel.session.step_of_sums(look.window)) {
        // As many moments as there are columns to show them.
        const Index& index = easel.session.index();
        for (int column = 0; column <= chart.columns; ++column) {
            const Time moment = look.window.from + look.window.length() * column / chart.columns;
            const Time time = index.time(index.before(moment));
            strips.take(easel.session.at(time), time);
        }
    } else {
        easel.session.listen(look.window, strips);
    }
    const std::vector<Row> rows = rows_of(strips, look.selected, easel.session);
    const int lines = grid.size().lines - 1;
    const auto fit = static_cast<std::size_t>(std::max(lines, 0));
    const std::size_t shown =
        rows.size() <= fit ? rows.size() : fit - std::min<std::size_t>(fit, 1);
    for (std::size_t row = 0; row < shown; ++row) {
        const int line = 1 + static_cast<int>(row);
        grid.put(line, 1, rows[row].name, {}, chart.left - 2);
        const double most = most_of(rows[row].values);
        for (int column = 0; column < chart.columns; ++column)
            if (const double value = rows[row].values[static_cast<std::size_t>(column)]; value > 0)
                grid.put(line, chart.left + column, level_glyph(value / most, easel.glyphs),
                         style_of(State::kComputing));
        grid.put_right(line, grid.size().columns - 1, rows[row].most, kDim);
    }
    chart.rows = static_cast<int>(shown);
    draw_now(grid, look, chart);
    if (shown < rows.size())
        grid.put(lines, 1,
                 fmt::format("{} more: make the window higher (-size)", rows.size() - shown), kDim);
    if (rows.empty())
        grid.put(1, 1, "the trace has no counters in this window (level 3 has the system's)", kDim);
    grid.put(
        0, 14,
        fmt::format("all tasks together, nodes, task {}; on the right the highest", look.selected),
        kDim);
}

}  // namespace poe::trace
