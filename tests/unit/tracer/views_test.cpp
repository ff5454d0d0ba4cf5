// Golden screens of the playback: what the views make of a small trace, as text.
#include "tracer/playback/views.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/poe/golden.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tests/unit/tracer/views_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

constexpr Size kSmall{20, 5};
constexpr Size kLarge{200, 60};

// In the middle of the small trace.
struct Midway : Playing {
    Midway() { move_to(look, session.whole(), microseconds(450)); }
};

void check_golden(const std::string& name, const Grid& grid) {
    const std::string text = grid.text();
    CHECK(text == poe::test::golden_text("trace/" + name + ".txt", text));
}

}  // namespace

TEST_CASE("every view at three sizes, and in ASCII") {
    Midway playing;
    playing.look.lines = true;
    for (const ViewName& view : view_names()) {
        playing.look.panes = {view.kind};
        const std::string name(view.name);
        check_golden(name + "_80x24", playing.screen(kUsual));
        check_golden(name + "_200x60", playing.screen(kLarge));
        check_golden(name + "_20x5", playing.screen(kSmall));
        const std::string ascii = playing.screen(kUsual, false).text();
        CHECK(std::all_of(ascii.begin(), ascii.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
        for (int columns = 0; columns < 40; columns += 3)
            for (int lines = 0; lines < 12; ++lines) playing.screen({columns, lines});
    }
}

TEST_CASE("several views, the menu, the help") {
    Midway playing;
    playing.press("v2");
    check_golden("communication_200x60", playing.screen(kLarge));
    check_golden("communication_80x24", playing.screen(kUsual));
    playing.press("v");
    check_golden("menu_80x24", playing.screen(kUsual));
    playing.press("t?");
    check_golden("help_80x24", playing.screen(kUsual));
    check_golden("help_20x5", playing.screen(kSmall));
}

TEST_CASE("a notice that is longer than the screen is wide takes more lines") {
    Midway playing;
    playing.look.notice = "one two three four five six seven";
    const std::string text = playing.screen({20, 8}).text();
    CHECK(text.find("\none two three four\nfive six seven\n") != std::string::npos);
}

TEST_CASE("the controls of a recorder") {
    Midway playing;
    const Stretch whole = playing.session.whole();
    playing.press("g");
    CHECK(playing.look.now == whole.from);
    playing.press(" ");
    playing.look.speed = 0;
    play(playing.look, whole, microseconds(100));
    CHECK(playing.look.now == microseconds(100));
    playing.press("r");
    play(playing.look, whole, microseconds(30));
    CHECK(playing.look.now == microseconds(70));
    play(playing.look, whole, microseconds(500));
    CHECK(playing.look.now == whole.from);
    CHECK(playing.look.direction == 0);
    playing.press("j40%");
    playing.press(terminal::Key::Kind::kEnter);
    CHECK(playing.look.now == microseconds(400));
    playing.press("a");
    playing.press("j60%");
    playing.press(terminal::Key::Kind::kEnter);
    playing.press("b ");
    playing.look.speed = 0;
    play(playing.look, whole, microseconds(10));
    CHECK(playing.look.now == microseconds(400));
    playing.press("xjnonsense");
    playing.press(terminal::Key::Kind::kEnter);
    CHECK(playing.look.notice.find("\"nonsense\" is no time") == 0);
    CHECK(speed_words(kSlowest) == "1/1000x");
    CHECK(speed_words(kFastest) == "1000x");
    CHECK(speed_words(-1) == "1/2x");
}

TEST_CASE("steps to events, messages, collectives, markers, marks") {
    Midway playing;
    playing.press("g");
    playing.look.selected = 1;
    playing.press("m");
    CHECK(playing.look.now == microseconds(500));
    playing.press("c");
    CHECK(playing.look.now == microseconds(650));
    playing.press("pk");
    CHECK(playing.look.now == microseconds(920));
    playing.press("k");
    CHECK(playing.look.notice == "no marker of task 1 after this");
    playing.press("[");
    CHECK(playing.look.now == microseconds(650));
    playing.press("M,");
    CHECK(playing.look.now == microseconds(100));
    playing.press(".");
    CHECK(playing.look.now == microseconds(500));
}

TEST_CASE("a click selects, goes there, and tells the numbers") {
    Midway playing;
    playing.look.panes = {ViewKind::kTimeline};
    const auto click = [&](int line, int column) { playing.click(line, column); };
    click(13, 42);  // the third row, half way through 75 columns
    CHECK(playing.look.now == microseconds(500));
    CHECK(playing.look.selected == 2);
    CHECK(playing.look.notice == "task 2: computing for 100.0 us");
    playing.press("vm");
    click(5, 15);
    CHECK(playing.look.notice == "task 2 to task 3: 1 message, 100000 bytes so far");
    playing.press("vb");
    click(14, 3);
    CHECK(playing.look.selected == 3);
    click(12, 70);  // the spoke to the right
    CHECK(playing.look.notice.find("task 1: computes ") == 0);
    click(3, 60);  // upwards
    CHECK(playing.look.selected == 0);
    playing.press("vu");
    click(5, 6);
    CHECK(playing.look.now < microseconds(10));
    for (const ViewName& view : view_names()) {
        playing.look.panes = {view.kind};
        for (int line = -1; line < 26; ++line)
            for (int column = -1; column < 82; column += 7) click(line, column);
    }
}

TEST_CASE("searches") {
    Midway playing;
    const auto search = [&](const std::string& text) {
        playing.press("g/");
        playing.look.typed = text;
        playing.press(terminal::Key::Kind::kEnter);
        return playing.look.now;
    };
    CHECK(search("call=brecv dur>350us") == microseconds(100));
    CHECK(playing.look.selected == 1);
    CHECK(search("task=3 call=brecv") == microseconds(300));
    CHECK(search("msg 0->1 bytes>1K") == microseconds(400));
    CHECK(search("msg bytes>90K") == microseconds(100));
    CHECK(search("msg 3<>2") == microseconds(100));
    CHECK(search("msg 1<>0") == microseconds(400));
    CHECK(search("marker task=2") == microseconds(920));
    playing.press("N");
    CHECK(playing.look.notice == "nothing before this is \"marker task=2\"");
    search("msg 5->");
    CHECK(playing.look.notice == "nothing after this is \"msg 5->\"");
    search("speed=3");
    CHECK(playing.look.notice.find("cannot search for \"speed=3\"") == 0);
}

TEST_CASE("a stretch too long to replay is drawn by sums") {
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 3; ++task) {
        tasks.push_back(task_stream(task, 3));
        for (std::uint64_t i = 0; i < 300; ++i)
            sync_call(tasks.back(), i * 100 + 50 + (i < 150 ? 0 : 40), i * 100 + 100,
                      static_cast<std::uint16_t>(i));
    }
    Session session(
        TraceSource::from_bytes(gathered(tasks), "long"), {}, [](double) {}, 16);
    REQUIRE(session.index().size() > 2 * Session::kMostReplayed);
    const StateBins bins = session.sum_of_bins(session.whole(), 2);
    const auto share = [&](std::size_t half) {
        return seconds_of(bins[half][static_cast<std::size_t>(State::kComputing)]) /
               seconds_of(session.whole().length() * 3 / 2);
    };
    CHECK(share(0) == Approx(0.5).margin(0.02));
    CHECK(share(1) == Approx(0.9).margin(0.02));
}
