// Views of the program itself: its markers, its source.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "markerarray/render.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {

terminal::Activity activity_of(const TaskTimeline& task) {
    using Activity = terminal::Activity;
    if (!task.seen) return Activity::kNotStarted;
    if (task.ended) return Activity::kEnded;
    constexpr std::array<Activity, kStates> kActivity{
        Activity::kUnknown,    Activity::kComputing, Activity::kSending,  Activity::kReceiving,
        Activity::kCollective, Activity::kIdle,      Activity::kReceiving};
    return kActivity[static_cast<std::size_t>(task.state)];
}

std::string doing_words(const TaskTimeline& task, const Definitions& definitions) {
    if (!task.seen) return "not begun";
    if (task.ended) return "ended";
    if (const CallFrame* call = task.call(definitions))
        return definitions.region(call->region).name;
    if (task.region != 0) return definitions.region(task.region).name;
    return std::string(state_word(task.state));
}

}  // namespace

void draw_markers(Grid& grid, const ViewState& look, const ViewContext& easel) {
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
        row.doing = doing_words(state.tasks[id], easel.session.definitions());
        if (const auto marks = state.marks.find(row.task); marks != state.marks.end()) {
            row.lights = marks->second.lights;
            row.text = marks->second.text;
            row.text_count = marks->second.texts;
            row.progress = {marks->second.done, marks->second.total};
        }
        model.put(std::move(row), moment(look.now));
    }
    // One line per task, as many as fit; the selected task is among them.
    const int fit = std::max(markers::rows_that_fit(grid.size(), model.any_progress()) + 1, 1);
    const int tasks = facts.tasks;
    const int first = std::clamp(look.selected - fit / 2, 0, std::max(tasks - fit, 0));
    markers::Order order;
    for (int task = first; task < std::min(first + fit, tasks); ++task)
        order.push_back(static_cast<std::uint32_t>(task));
    markers::View view;
    view.display = markers::Display::kRows;
    const markers::Scene scene{
        model.now(),      order,  view, model.lights_used(), model.any_progress(),
        moment(look.now), nullptr};
    const terminal::Size size = grid.size();
    // The first line has the name of the view instead of the program's.
    const Grid rows = markers::render_rows_only(scene, size, easel.glyphs);
    for (int line = 1; line < size.lines; ++line)
        for (int column = 0; column < size.columns; ++column) {
            const terminal::Cell& cell = rows.at(line, column);
            grid.put(line, column, cell.glyph, cell.style);
        }
    const int more = tasks - static_cast<int>(order.size());
    grid.put(0, 14,
             "at " + moment_words(look.now, look.window.length() / 1000) +
                 (more > 0 ? fmt::format(", tasks {} to {} of {}: up and down show others", first,
                                         first + static_cast<int>(order.size()) - 1, tasks)
                           : ""),
             kDim);
}

void draw_source(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const JobState& state = easel.session.at(look.now);
    const auto task = static_cast<std::size_t>(look.selected);
    const CallFrame* call =
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
    const CodeLine& at = easel.symbols.line_of(site);
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
        if (number == at.line) {
            grid.put(1 + row, 6, easel.glyphs.unicode() ? U'▶' : U'>');
            grid.select(1 + row);
        }
    }
}

}  // namespace poe::trace
