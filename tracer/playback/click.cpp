// See click.hpp.
#include "tracer/playback/click.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "markerarray/words.hpp"
#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {
namespace {

using markers::Size;

// A place within one view.
struct Spot {
    Look& look;
    Session& session;
    Size size;
    int line;
    int column;

    int tasks() const { return session.source().facts().tasks; }
    void select(int task) const {
        if (task >= 0 && task < tasks()) look.selected = task;
    }
    // Of a chart with time from left to right.
    void go(const Chart& chart) const {
        const int at = column - chart.left;
        if (at < 0 || at >= chart.columns) return;
        const Time into = chart.window.length() * (2 * std::int64_t{at} + 1) / (2 * chart.columns);
        move_to(look, session.whole(), chart.window.from + into);
        look.direction = 0;
    }

    // What the selected task is in.
    std::string state_words() const {
        const JobState& state = session.at(look.now);
        const auto id = static_cast<std::size_t>(look.selected);
        if (id >= state.tasks.size()) return "";
        const TaskState& task = state.tasks[id];
        const Frame* call = task.call(session.definitions());
        if (call == nullptr)
            return fmt::format("task {}: {} for {}", look.selected, state_word(task.state),
                               span_words(look.now - task.since));
        const std::string peer = call->peer == kNobody ? "" : fmt::format(", peer {}", call->peer);
        return fmt::format("task {}: {}, in {}{}, for {}", look.selected, state_word(task.state),
                           session.definitions().region(call->region).name, peer,
                           span_words(look.now - call->since));
    }
    std::string load_words() const {
        const Balance load = balance_of(look, session);
        const auto id = static_cast<std::size_t>(look.selected);
        return fmt::format("task {}: computes {} now, {} on average", look.selected,
                           percent_words(load.now[id]), percent_words(load.average[id]));
    }
    void rows(int first_line, int first_task) const {
        if (line >= first_line) select(first_task + line - first_line);
        look.notice = state_words();
    }
    void matrix() const {
        const MatrixPlace place = place_of_matrix(size, tasks());
        const int from = (line - MatrixPlace::kTop) * place.group;
        const int to = (column - MatrixPlace::kLeft) / place.wide * place.group;
        if (line < MatrixPlace::kTop || column < MatrixPlace::kLeft || from >= tasks() ||
            to >= tasks())
            return;
        select(from);
        const auto within = [&place](TaskId task, int first) {
            return task >= first && task < first + place.group;
        };
        PairSum all;
        const Stretch stretch{look.so_far ? session.whole().from : look.window.from, look.now};
        for (const PairSum& sum : session.pairs(stretch))
            if (within(sum.from, from) && within(sum.to, to)) {
                all.count += sum.count;
                all.bytes += sum.bytes;
            }
        const auto words = [&](int first) {
            const int last = std::min(first + place.group, tasks()) - 1;
            return first == last ? fmt::format("task {}", first)
                                 : fmt::format("tasks {} to {}", first, last);
        };
        look.notice = fmt::format("{} to {}: {}, {} bytes {}", words(from), words(to),
                                  markers::count_words(all.count, "message"), all.bytes,
                                  look.so_far ? "so far" : "in the window");
    }
    void balance() const {
        if (line == 0 || tasks() == 0) return;
        if (has_dial(size) && column >= size.columns / 2)
            select(task_of_spoke(size, line, column, tasks()));
        else
            select(look.top + line - 1);
        look.notice = load_words();
    }
};

}  // namespace

void click(Look& look, Session& session, Size screen, int line, int column) {
    const auto places = places_of(look.panes.size(), screen);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const Spot spot{
            look, session, {place.columns, place.lines}, line - place.line, column - place.column};
        if (spot.line < 0 || spot.line >= place.lines || spot.column < 0 ||
            spot.column >= place.columns)
            continue;
        Chart chart = place_of_chart(spot.size, look, spot.tasks());
        switch (look.panes[i]) {
            case ViewKind::kTimeline:
                if (spot.line > chart.rows) return;
                spot.go(chart);
                return spot.rows(chart.top, look.top);
            case ViewKind::kStream:
                if (spot.line > chart.rows) return;
                chart.window = {look.now - chart.window.length(), look.now};
                spot.go(chart);
                return spot.rows(chart.top, look.top);
            case ViewKind::kUtilization:
                return spot.go(place_of_utilization(spot.size, look));
            case ViewKind::kSystem:
                return spot.go(place_of_strips(spot.size, look));
            case ViewKind::kMatrix:
                return spot.matrix();
            case ViewKind::kBalance:
                return spot.balance();
            default:
                return;
        }
    }
}

}  // namespace poe::trace
