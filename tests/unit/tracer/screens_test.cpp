// What a user sees of a trace at once: totals, the whole screen, the shares of states in a column,
// all tasks, many messages, who is connected with whom.
#include <algorithm>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/unit/tracer/views_maker.hpp"
#include "tracer/playback/chart.hpp"
#include "tracer/playback/graph.hpp"
#include "tracer/playback/stack.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// So many tasks that compute 42 us and receive 58 us in turn; the last one computes all the time.
TraceSource mixed_trace(int tasks, std::uint64_t turns = 100) {
    std::vector<StreamWriter> streams;
    for (TaskId task = 0; task < tasks; ++task) {
        StreamWriter& out = streams.emplace_back(task_stream(task, tasks));
        out.put(0, {.kind = Kind::kTracing, .detail = 1});
        for (std::uint64_t i = 0; i < turns && task + 1 < tasks; ++i)
            receive_call(out, i * 100 + 42, i * 100 + 100, (task + 1) % tasks);
        out.put(us(turns * 100), {.kind = Kind::kTracing, .detail = 0});
    }
    return TraceSource::from_bytes(gathered(streams), "mixed");
}

// Messages from task 0 to 1 and back, from 2 to 3, all the time.
TraceSource chatty_trace(std::uint64_t turns) {
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 4; ++task) tasks.push_back(task_stream(task, 4));
    for (std::uint64_t i = 0; i < turns; ++i) {
        const std::uint64_t now = i * 100;
        send_call(tasks[0], now, now + 10, 1, 1000);
        receive_call(tasks[1], now, now + 20, 0, 1000);
        send_call(tasks[1], now + 30, now + 40, 0, 10);
        receive_call(tasks[0], now + 30, now + 50, 1, 10);
        send_call(tasks[2], now + 30, now + 40, 3, 100);
        receive_call(tasks[3], now + 30, now + 60, 2, 100);
    }
    return TraceSource::from_bytes(gathered(tasks), "chatty");
}

PartTimes times_of(std::initializer_list<std::pair<State, int>> shares) {
    PartTimes times{};
    for (const auto& [state, us] : shares)
        times[static_cast<std::size_t>(state)] = microseconds(us);
    return times;
}

}  // namespace

TEST_CASE("vt opens with the totals of the whole trace") {
    Playing playing;
    CHECK(playing.look.now == playing.session.whole().to);
    const std::string screen = playing.screen(kUsual).text();
    INFO(screen);
    // Without a key: the states, and all calls of the trace.
    CHECK(contains(screen, "receiving            12.5%   500.0 us"));
    const std::string calls = playing.view(ViewKind::kCalls, kUsual);
    CHECK(contains(calls, fmt::format("{:<20} {:>7}", "mpc_sync", 4)));
    CHECK(contains(calls, fmt::format("{:<20} {:>7}", "mpc_brecv", 2)));
    CHECK(contains(playing.view(ViewKind::kMatrix, kUsual), "full cell 100K bytes"));
    CHECK(contains(playing.view(ViewKind::kMessages, kUsual), "2 messages, 103K bytes, 4 calls"));
    // Playing begins at the begin.
    playing.press(" ");
    CHECK(playing.look.now == playing.session.whole().from);
}

TEST_CASE("a few tasks fill the screen, with several views") {
    Playing playing(mixed_trace(4));
    for (const Size size : {Size{80, 24}, Size{120, 30}, Size{200, 50}}) {
        const std::string text = playing.screen(size).text();
        INFO(text);
        const auto lines = lines_of(text);
        const auto blank = std::count_if(lines.begin(), lines.end(),
                                         [](const std::string& line) { return line.empty(); });
        CHECK(blank * 3 < size.lines);
        CHECK(contains(text, "timeline"));
        CHECK(contains(text, "calls"));
        CHECK(contains(text, "balance") == (size.columns >= 120 && size.lines >= 28));
        CHECK(contains(text, "connections") == (size.columns >= 180));
    }
    // What was chosen stays, whatever the size.
    playing.look.panes = {ViewKind::kMatrix};
    CHECK_FALSE(contains(playing.screen({200, 50}).text(), "timeline"));
}

TEST_CASE("shares of a column come out right over a row, whatever its height") {
    const PartTimes times = times_of({{State::kComputing, 42}, {State::kReceiving, 58}});
    for (const int height : {1, 2, 3, 8, 40}) {
        Apportionment apportionment;
        int computing = 0, receiving = 0;
        for (int column = 0; column < 100; ++column) {
            const auto units = apportionment.next(times, microseconds(100), height);
            computing += units[static_cast<std::size_t>(State::kComputing)];
            receiving += units[static_cast<std::size_t>(State::kReceiving)];
            CHECK(units[0] == 0);
        }
        CHECK(computing + receiving == 100 * height);
        CHECK(std::abs(computing - 42 * height) <= 1);
    }
}

TEST_CASE("a column in which one state is alone shows that state only") {
    Apportionment apportionment;
    apportionment.next(times_of({{State::kComputing, 45}, {State::kReceiving, 55}}),
                       microseconds(100), 1);
    for (int i = 0; i < 3; ++i)
        CHECK(apportionment.next(times_of({{State::kReceiving, 100}}), microseconds(100),
                                 1)[static_cast<std::size_t>(State::kReceiving)] == 1);
    // Half of it not traced: half of it blank.
    CHECK(apportionment.next(times_of({{State::kReceiving, 50}}), microseconds(100), 8)[0] == 4);
}

TEST_CASE("the time line shows how much tasks compute, not what they do most") {
    Playing playing(mixed_trace(2));
    for (const int lines : {4, 9, 24}) {
        const std::string text = playing.view(ViewKind::kTimeline, {85, lines}, false);
        INFO(text);
        // Of the first task's row; 80 columns.
        const auto all = lines_of(text);
        const Chart chart = place_of_chart({85, lines}, playing.look, 2);
        std::ptrdiff_t computing = 0;
        for (int line = chart.line_of(0); line < chart.line_of(0) + chart.height; ++line) {
            const std::string& row = all[static_cast<std::size_t>(line)];
            computing += std::count(row.begin(), row.end(), '#');
        }
        const double share = static_cast<double>(computing) / (80.0 * chart.height);
        CHECK(share == Approx(0.42).margin(0.02));
    }
}

TEST_CASE("with colours a cell shows two states, one above the other") {
    Playing playing(mixed_trace(2, 10000));
    const terminal::Glyphs glyphs(true);
    const Grid grid =
        draw_view(ViewKind::kTimeline, playing.look, {85, 4}, playing.easel(glyphs, true));
    for (int column = 10; column < 70; ++column) {
        const terminal::Cell& cell = grid.at(1, column);
        // Three or four eighths of computing before receiving.
        CHECK((cell.glyph == U'▃' || cell.glyph == U'▄'));
        CHECK(cell.style.value == style_of(State::kComputing).value);
        CHECK(cell.style.back == terminal::Ink::kActivity);
        CHECK(cell.style.back_value == style_of(State::kReceiving).value);
    }
    // The task that only computes is one colour.
    CHECK(grid.at(2, 30).glyph == U'█');
}

TEST_CASE("tasks that do not fit share rows, and none is left out") {
    Playing playing(mixed_trace(64));
    const Chart chart = place_of_chart({80, 24}, playing.look, 64);
    CHECK(chart.group == 3);
    CHECK(chart.tasks() >= 64);
    const std::string text = playing.view(ViewKind::kTimeline, {80, 24}, false);
    INFO(text);
    for (const char* label : {"  0-2 ", "  3-5 ", "   63 "}) CHECK(contains(text, label));
    CHECK_FALSE(contains(text, "more below"));
    // The last task, which computes all the time, has the last row.
    const auto lines = lines_of(text);
    CHECK(std::count(lines[22].begin(), lines[22].end(), '#') > 70);
    CHECK(contains(playing.view(ViewKind::kBalance, {80, 24}), "60-62"));
    // A key shows each, as many as fit.
    playing.press("e");
    const std::string each = playing.view(ViewKind::kTimeline, {80, 24}, false);
    CHECK(contains(each, "42 more below"));
    playing.look.panes = {ViewKind::kTimeline};
    for (int i = 0; i < 70; ++i) playing.press(terminal::Key::Kind::kDown);
    CHECK(playing.look.selected == 63);
    CHECK(contains(playing.screen(kUsual, false).text(), "  63 "));
}

TEST_CASE("selecting goes by rows of tasks") {
    Playing playing(mixed_trace(64));
    playing.look.panes = {ViewKind::kTimeline};
    playing.press(terminal::Key::Kind::kDown);
    const int group = place_of_chart({80, 22}, playing.look, 64).group;
    CHECK(playing.look.selected == group);
    playing.press("e");
    playing.press(terminal::Key::Kind::kDown);
    CHECK(playing.look.selected == group + 1);
}

TEST_CASE("many messages are shown as their density") {
    Playing few(chatty_trace(3));
    few.look.lines = true;
    CHECK(contains(few.view(ViewKind::kTimeline, kUsual, false), "@"));
    Playing many(chatty_trace(2000));
    many.look.lines = true;
    const std::string text = many.view(ViewKind::kTimeline, kUsual, true);
    INFO(text);
    CHECK(contains(text, "messages on their way, up to "));
    // A strip below each row: full for task 0 and 2, which send as much; none below 3.
    const auto lines = lines_of(text);
    const Chart chart = place_of_chart(kUsual, many.look, 4);
    const auto strip = [&](int row) {
        return lines[static_cast<std::size_t>(chart.line_of(row) + chart.height)];
    };
    CHECK(contains(strip(0), "████"));
    CHECK_FALSE(contains(strip(3), "█"));
    // A single line per task shows it, too.
    CHECK(contains(many.view(ViewKind::kTimeline, {80, 6}, true), "messages on their way"));
}

TEST_CASE("sums are so far, of the window, or of just now, in every view that has sums") {
    Playing playing(chatty_trace(100));
    playing.look.window = {microseconds(5000), microseconds(10000)};
    playing.look.now = microseconds(7500);
    for (const ViewKind kind : {ViewKind::kMatrix, ViewKind::kMessages, ViewKind::kBalance,
                                ViewKind::kCalls, ViewKind::kConnections}) {
        playing.look.sums = ViewState::Sums::kSoFar;
        const std::string so_far = playing.view(kind, kUsual);
        playing.press("t");
        const std::string window = playing.view(kind, kUsual);
        playing.press("t");
        const std::string now = playing.view(kind, kUsual);
        INFO(so_far << window << now);
        CHECK(contains(so_far, "so far"));
        CHECK(contains(window, "in the window"));
        CHECK(contains(now, "just now"));
        playing.press("t");
        CHECK(playing.look.sums == ViewState::Sums::kSoFar);
    }
    // 75 turns so far, 50 in the window, one just now; three messages each.
    const auto messages = [&] { return lines_of(playing.view(ViewKind::kMessages, kUsual))[1]; };
    CHECK(contains(messages(), " 225 messages"));
    playing.press("t");
    CHECK(contains(messages(), " 150 messages"));
    playing.press("t");
    CHECK(contains(messages(), " 3 messages"));
}

TEST_CASE("connections are a graph, each pair once") {
    Playing playing(chatty_trace(100));
    playing.look.panes = {ViewKind::kConnections};
    const auto links = links_of(playing.look, playing.session, 1);
    REQUIRE(links.size() == 2);
    CHECK(links[0].low == 0);
    CHECK(links[0].high == 1);
    CHECK(links[0].there.bytes == 100'000);
    CHECK(links[0].back.bytes == 1000);
    CHECK(links[1].back.count == 0);
    const std::string text = playing.view(ViewKind::kConnections, {100, 24});
    INFO(text);
    CHECK(contains(text, "   0 ◀─▶ 1      200"));
    CHECK(contains(text, "   2 ──▶ 3      100"));
    // Lines of dots between the nodes.
    const terminal::Glyphs glyphs(true);
    const Grid grid =
        draw_view(ViewKind::kConnections, playing.look, {100, 24}, playing.easel(glyphs));
    int dotted = 0;
    for (int line = 0; line < 24; ++line)
        for (int column = 0; column < 50; ++column) {
            const char32_t glyph = grid.at(line, column).glyph;
            dotted += glyph > U'\u2800' && glyph < U'\u2900' ? 1 : 0;
        }
    CHECK(dotted > 10);
}

TEST_CASE("a click on a connection searches for its messages") {
    Playing playing(chatty_trace(100));
    playing.look.panes = {ViewKind::kConnections};
    const Size size{100, 26};
    const GraphPlace place = place_of_graph({100, 24}, 4);
    REQUIRE(place.nodes.size() == 4);
    // The second pair of the list; one line of title.
    playing.click(1 + GraphPlace::kListTop + 1, place.list + 5, size);
    CHECK(playing.look.search == "msg 2<>3");
    CHECK(playing.look.now == microseconds(30));
    CHECK(playing.look.selected == 2);
    playing.press("n");
    CHECK(playing.look.now == microseconds(130));
    // A task.
    playing.click(1 + place.nodes[1].line, place.nodes[1].column, size);
    CHECK(playing.look.search == "msg task=1");
    CHECK(playing.look.selected == 1);
    // The line between 0 and 1, half way.
    const auto& a = place.nodes[0];
    const auto& b = place.nodes[1];
    playing.click(1 + (a.line + b.line) / 2, (a.column + b.column) / 2, size);
    CHECK(playing.look.search == "msg 0<>1");
}

TEST_CASE("the markers say what a task does, and when it has not begun or has ended") {
    const StreamFacts facts = daemon_facts(0, 4);
    StreamWriter node(facts);
    for (std::uint32_t task = 0; task < 4; ++task)
        node.put(us(1100), {.kind = Kind::kEnded, .a = task});
    std::vector<StreamWriter> streams = small_streams();
    StreamFacts late = facts;
    late.kind = StreamKind::kTask;
    late.task = 3;
    streams[3] = StreamWriter(late);
    streams[3].put(us(500), {.kind = Kind::kTracing, .detail = 1});
    Playing playing(TraceSource::from_bytes(gathered(streams) + node.bytes(), "ended"));
    const auto at = [&](int us) {
        playing.look.now = microseconds(us);
        return playing.view(ViewKind::kMarkers, kUsual);
    };
    CHECK(contains(at(1100), "ended"));
    CHECK_FALSE(contains(at(1100), "not traced"));
    CHECK(contains(at(1100), "at 0.001100 s"));
    CHECK(contains(at(200), "solve"));
    CHECK(contains(at(10), "not begun"));
    CHECK_FALSE(contains(at(10), "0.0 s"));
}
