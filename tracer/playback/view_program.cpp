// Views of the program itself: its markers, its counters and the system's, its source.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "markerarray/render.hpp"
#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {

using markers::Grid;
using markers::Ink;
using markers::Style;

namespace {

constexpr Style kDim{Ink::kDim, 0, false};

std::string_view metric_word(std::uint8_t metric) {
    constexpr std::array<std::string_view, 12> kWords{
        "?",           "cpu user",     "cpu system", "switches",  "forced switches",
        "page faults", "major faults", "memory",     "disk read", "disk written",
        "net in",      "net out"};
    return kWords[metric < kWords.size() ? metric : 0];
}

bool is_time(std::uint8_t metric) {
    return metric == static_cast<std::uint8_t>(Metric::kCpuUser) ||
           metric == static_cast<std::uint8_t>(Metric::kCpuSystem);
}

// What a counter or a sum came to, by columns; NaN where nothing is known.
struct Strip {
    std::vector<double> values;
    std::optional<std::pair<Time, std::uint64_t>> last;  // of a sum
};

// Gathers values of counters, and rates of sums.
class StripListener : public Listener {
  public:
    StripListener(Session& session, const Chart& chart) : session_(session), chart_(chart) {}

    void on_event(const Event& event, TaskId task) override {
        const Record& record = event.record;
        if (record.kind == Kind::kCounter) {
            const double value = record.detail == 0
                                     ? std::bit_cast<double>(record.b)
                                     : static_cast<double>(static_cast<std::int64_t>(record.b));
            note(fmt::format("{} of {}", session_.counter_name(event.stream, record.a),
                             session_.source().streams()[event.stream].name()),
                 event.time, value);
        } else if (record.kind == Kind::kSystem) {
            const bool of_node = task < 0 && record.a == kNobody;
            const std::string who = of_node    ? session_.source().streams()[event.stream].name()
                                    : task < 0 ? fmt::format("task {}", record.a)
                                               : fmt::format("task {}", task);
            note_sum(fmt::format("{} of {}", metric_word(record.detail), who), event.time, record);
        }
    }

    std::map<std::string, Strip> strips;

  private:
    Strip& strip(const std::string& name) {
        Strip& strip = strips[name];
        if (strip.values.empty())
            strip.values.assign(static_cast<std::size_t>(chart_.columns), std::nan(""));
        return strip;
    }
    void note(const std::string& name, Time time, double value) {
        Strip& to = strip(name);
        const int column = chart_.column(time);
        if (column >= 0 && column <= chart_.columns)
            to.values[static_cast<std::size_t>(std::min(column, chart_.columns - 1))] = value;
    }
    void note_sum(const std::string& name, Time time, const Record& record) {
        if (record.detail == static_cast<std::uint8_t>(Metric::kMemory))
            return note(name, time, static_cast<double>(record.b));
        Strip& to = strip(name);
        if (to.last && time > to.last->first && record.b >= to.last->second) {
            const auto more = static_cast<double>(record.b - to.last->second);
            const double seconds = seconds_of(time - to.last->first);
            note(name, time, more / seconds / (is_time(record.detail) ? 1e9 : 1));
        }
        to.last = {time, record.b};
    }

    Session& session_;
    const Chart& chart_;
};

markers::Activity activity_of(const TaskState& task) {
    using Activity = markers::Activity;
    constexpr std::array<Activity, kStates> kActivity{Activity::kUnknown,    Activity::kComputing,
                                                      Activity::kSending,    Activity::kReceiving,
                                                      Activity::kCollective, Activity::kIdle};
    return kActivity[static_cast<std::size_t>(task.state)];
}

}  // namespace

void draw_markers(Grid& grid, const Look& look, const Easel& easel) {
    const JobState& state = easel.session.at(look.now);
    const TraceFacts& facts = easel.session.source().facts();
    const auto moment = [](Time time) { return std::chrono::duration_cast<markers::Moment>(time); };
    markers::Model model;
    model.begin({facts.job, facts.program, facts.nodes, static_cast<std::uint32_t>(facts.tasks)},
                moment(look.now));
    for (std::size_t id = 0; id < state.tasks.size(); ++id) {
        markers::TaskRow row;
        row.task = static_cast<TaskId>(id);
        row.node = facts.node_of[id];
        row.activity = activity_of(state.tasks[id]);
        const Frame* call = state.tasks[id].call(easel.session.definitions());
        row.doing = call == nullptr ? std::string(state_word(state.tasks[id].state))
                                    : easel.session.definitions().region(call->region).name;
        if (const auto marks = state.marks.find(row.task); marks != state.marks.end()) {
            row.lights = marks->second.lights;
            row.text = marks->second.text;
            row.text_count = marks->second.texts;
            row.progress = {marks->second.done, marks->second.total};
        }
        model.put(std::move(row), moment(look.now));
    }
    markers::Order order;
    for (auto task = static_cast<std::uint32_t>(look.top); task < state.tasks.size(); ++task)
        order.push_back(task);
    markers::View view;
    view.display = markers::Display::kRows;
    const markers::Scene scene{
        model.now(),      order,  view, model.lights_used(), model.any_progress(),
        moment(look.now), nullptr};
    const markers::Size size{grid.size().columns, grid.size().lines - 1};
    if (size.lines <= 0) return;
    const Grid rows = markers::render_rows_only(scene, size, easel.glyphs);
    for (int line = 0; line < size.lines; ++line)
        for (int column = 0; column < size.columns; ++column) {
            const markers::Cell& cell = rows.at(line, column);
            grid.put(1 + line, column, cell.glyph, cell.style);
        }
}

void draw_system(Grid& grid, const Look& look, const Easel& easel) {
    constexpr int kName = 26;
    Chart chart;
    chart.left = kName;
    chart.columns = grid.size().columns - kName - 8;
    chart.window = look.window;
    if (chart.columns <= 0) return;
    StripListener listener(easel.session, chart);
    easel.session.listen(look.window, listener);
    int line = 1;
    for (const auto& [name, strip] : listener.strips) {
        double most = 0, last = std::nan("");
        for (const double value : strip.values)
            most = std::max(most, std::isnan(value) ? 0 : value);
        grid.put(line, 1, name, {}, kName - 2);
        for (int column = 0; column < chart.columns; ++column) {
            const double value = strip.values[static_cast<std::size_t>(column)];
            if (!std::isnan(value)) last = value;  // stays until it is told anew
            if (most > 0 && last > 0)
                grid.put(line, chart.left + column, level_glyph(last / most, easel.glyphs),
                         style_of(State::kComputing));
        }
        grid.put_right(line++, grid.size().columns - 1, amount_words(most), kDim);
    }
    chart.rows = line - 1;
    if (line > 1)
        draw_now(grid, look,
                 {chart.left, chart.columns, 1, std::min(chart.rows, grid.size().lines - 1),
                  look.window});
    if (line == 1)
        grid.put(1, 1, "the trace has no counters in this window (level 3 has the system's)", kDim);
    grid.put(0, 14, "over the window; on the right the highest; sums by second", kDim);
}

void draw_source(Grid& grid, const Look& look, const Easel& easel) {
    const JobState& state = easel.session.at(look.now);
    const auto task = static_cast<std::size_t>(look.selected);
    const Frame* call =
        task < state.tasks.size() ? state.tasks[task].call(easel.session.definitions()) : nullptr;
    const bool recent = call == nullptr;
    if (recent && task < state.tasks.size()) call = &state.tasks[task].last_call;
    const Site site = call == nullptr ? Site{} : easel.session.definitions().site(call->site);
    if (site.object.empty()) {
        grid.put(
            1, 1,
            fmt::format("of task {} no call is known here (level 2 has the places of calls)", task),
            kDim);
        return;
    }
    const SourceLine& at = easel.symbols.line_of(site);
    grid.put(0, 14,
             fmt::format("task {} {} {} {}", task, recent ? "was last in" : "is in",
                         easel.session.definitions().region(call->region).name, at.words(site)),
             kDim);
    const std::vector<std::string> lines =
        at.file.empty() ? std::vector<std::string>() : easel.read_source(at.file);
    if (lines.empty()) {
        grid.put(
            1, 1,
            at.file.empty() ? "no source line is known: compile with -g" : "cannot read " + at.file,
            kDim);
        return;
    }
    const int rows = grid.size().lines - 1;
    const int first = std::max(at.line - 1 - rows / 2, 0);
    for (int row = 0; row < rows && first + row < static_cast<int>(lines.size()); ++row) {
        const int number = first + row + 1;
        grid.put_right(1 + row, 5, std::to_string(number), kDim);
        grid.put(1 + row, 7, lines[static_cast<std::size_t>(number - 1)]);
        if (number == at.line) grid.select(1 + row);
    }
}

}  // namespace poe::trace
