// Implementation of click.hpp.
#include "tracer/playback/click.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/graph.hpp"
#include "tracer/playback/panes.hpp"
#include "tracer/playback/search.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {
namespace {

using terminal::Size;

// A position within one view.
struct Spot {
    ViewState& look;
    Session& session;
    Size size;
    int line;
    int column;

    int tasks() const { return session.source().facts().tasks; }
    void select(int task) const {
        if (task >= 0 && task < tasks()) look.selected = task;
    }
    // Goes to the clicked time in a chart with time from left to right.
    void go(const Chart& chart) const {
        const int at = column - chart.left;
        if (at < 0 || at >= chart.columns) return;
        const Time into = chart.window.length() * (2 * std::int64_t{at} + 1) / (2 * chart.columns);
        move_to(look, session.whole(), chart.window.from + into);
        look.direction = 0;
    }

    // Describes what the selected task is in.
    std::string state_words() const {
        const JobState& state = session.at(look.now);
        const auto id = static_cast<std::size_t>(look.selected);
        if (id >= state.tasks.size()) return "";
        const TaskTimeline& task = state.tasks[id];
        const CallFrame* call = task.call(session.definitions());
        if (call == nullptr)
            return fmt::format("task {}: {} for {}", look.selected, state_word(task.state),
                               span_words(look.now - task.since));
        const std::string peer = call->peer == kNobody ? "" : fmt::format(", peer {}", call->peer);
        return fmt::format("task {}: {}, in {}{}, for {}", look.selected, state_word(task.state),
                           session.definitions().region(call->region).name, peer,
                           span_words(look.now - call->since));
    }
    void rows(const Chart& chart) const {
        if (const auto row = chart.row_at(line)) select(chart.task_of(*row));
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
        for (const PairSum& sum : session.pairs(stretch_of(look, session)))
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
                                  count_words(all.count, "message"), all.bytes, sums_words(look));
    }
    void balance() const {
        if (line == 0 || tasks() == 0) return;
        const Chart rows = place_of_balance(size, look, tasks());
        std::optional<int> row = rows.row_at(line);
        if (has_dial(size) && column >= size.columns / 2)
            row = spoke_at(size, line, column, rows.rows);
        if (!row) return;
        select(rows.task_of(*row));
        const Balance load = balance_of(look, session, rows);
        const auto at = static_cast<std::size_t>(*row);
        look.notice =
            fmt::format("{} {}: computes {} just now, {} {}", rows.group > 1 ? "tasks" : "task",
                        row_words(rows, *row, tasks()), percent_words(load_of(load.now[at])),
                        percent_words(load_of(load.sums[at])), sums_words(look));
    }
    // Searches for the messages of a pair or of a task, and goes to the next one.
    void connections() const {
        const GraphPlace place = place_of_graph(size, tasks());
        const auto links = links_of(look, session, place.group);
        const GraphSpot spot = spot_of_graph(place, links, line, column);
        const bool alone = place.group == 1;
        if (spot.node) {
            select(*spot.node * place.group);
            if (alone) search_for(fmt::format("msg task={}", *spot.node));
        } else if (spot.link) {
            const Link& link = links[*spot.link];
            select(link.low * place.group);
            look.notice =
                fmt::format("{} there, {} back {}", count_words(link.there.count, "message"),
                            link.back.count, sums_words(look));
            if (alone) search_for(fmt::format("msg {}<>{}", link.low, link.high));
        }
    }
    // Searches from the current moment; from the start of the trace if nothing is found.
    void search_for(const std::string& text) const {
        const Result<Search> search = Search::parse(text);
        look.search = text;
        auto hit = search.value().find(session, look.now, true);
        if (!hit) hit = search.value().find(session, session.whole().from - Time{1}, true);
        if (!hit) {
            look.notice = fmt::format("nothing in the trace is \"{}\"", text);
            return;
        }
        look.direction = 0;
        move_to(look, session.whole(), hit->at);
        look.notice = fmt::format("{}: the next one is here; n and N go on", text);
    }
};

}  // namespace

void click(ViewState& look, Session& session, Size screen, int line, int column) {
    const auto panes = panes_of(look, screen);
    const auto places = places_of(panes, screen);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const Spot spot{
            look, session, {place.columns, place.lines}, line - place.line, column - place.column};
        if (spot.line < 0 || spot.line >= place.lines || spot.column < 0 ||
            spot.column >= place.columns)
            continue;
        Chart chart = place_of_chart(spot.size, look, spot.tasks());
        switch (panes[i]) {
            case ViewKind::kStream:
                chart.window = {look.now - chart.window.length(), look.now};
                [[fallthrough]];
            case ViewKind::kTimeline:
                if (spot.line >= chart.top + chart.lines()) return;
                spot.go(chart);
                return spot.rows(chart);
            case ViewKind::kUtilization:
                return spot.go(place_of_utilization(spot.size, look));
            case ViewKind::kSystem:
                return spot.go(place_of_strips(spot.size, look));
            case ViewKind::kMatrix:
                return spot.matrix();
            case ViewKind::kBalance:
                return spot.balance();
            case ViewKind::kConnections:
                return spot.connections();
            default:
                return;
        }
    }
}

}  // namespace poe::trace
