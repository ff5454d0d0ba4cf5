// Views of the program itself: its markers, its source.
#include <algorithm>
#include <array>

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

markers::Activity activity_of(const TaskState& task) {
    using Activity = markers::Activity;
    constexpr std::array<Activity, kStates> kActivity{
        Activity::kUnknown,    Activity::kComputing, Activity::kSending,  Activity::kReceiving,
        Activity::kCollective, Activity::kIdle,      Activity::kReceiving};
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
        if (number == at.line) {
            grid.put(1 + row, 6, easel.glyphs.unicode() ? U'▶' : U'>');
            grid.select(1 + row);
        }
    }
}

}  // namespace poe::trace
