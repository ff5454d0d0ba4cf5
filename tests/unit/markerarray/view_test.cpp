// What keys, filters and sorting do to a view.
#include "markerarray/view.hpp"

#include <csignal>
#include <random>

#include <catch2/catch.hpp>

#include "markerarray/keys.hpp"
#include "markerarray/render.hpp"
#include "tests/unit/markerarray/sample_job.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::markers::test;

namespace {

constexpr Size kSize{80, 24};

// A display without a terminal.
struct Desk {
    Model model = sample_job();
    View view;
    Size size = kSize;

    Command press(Key key) {
        const Picture picture = view.standing ? model.at(*view.standing) : model.now();
        const Order order = order_of(picture, view);
        settle(view, order, size, model.any_progress());
        const Scene scene{picture,        order,  view, model.lights_used(), model.any_progress(),
                          model.now().at, nullptr};
        return markers::press(view, key, scene, size, model.earliest());
    }
    Command press(Key::Kind kind) { return press(Key{kind, 0, 0, 0}); }
    void type(std::string_view text) {
        for (const char c : text) press(Key{Key::Kind::kCharacter, static_cast<char32_t>(c), 0, 0});
    }
    std::vector<TaskId> tasks() {
        const Order order = order_of(model.now(), view);
        return {order.begin(), order.end()};
    }
};

std::string error_of(const std::string& text) {
    const auto filter = Filter::parse(text);
    return filter ? "" : filter.error().str();
}

}  // namespace

TEST_CASE("filters") {
    Desk desk;
    const auto passing = [&](const std::string& text) {
        desk.view.filter = Filter::parse(text).value();
        return desk.tasks();
    };
    using Tasks = std::vector<TaskId>;
    CHECK(passing("") == Tasks{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(passing("state=waiting") == Tasks{1, 2, 3});
    CHECK(passing("state=failed,stopped") == Tasks{5, 7});
    CHECK(passing("node=n1") == Tasks{4, 5, 6, 7});
    CHECK(passing("rank=0-2,7") == Tasks{0, 1, 2, 7});
    CHECK(passing("  rank=1-6   state=waiting node=n0 ") == Tasks{1, 2, 3});
    CHECK(passing("sigsegv") == Tasks{7});
    CHECK(passing("TYPE 7") == Tasks{1, 2});
    CHECK(passing("nothing").empty());
    CHECK(error_of("state=wating").find("no state is called \"wating\"") != std::string::npos);
    for (const char* bad : {"rank=a", "rank=3-1", "rank=-1", "rank=1-", "rank=99999999999"})
        CHECK(error_of(bad).find("is no range of tasks") != std::string::npos);
}

TEST_CASE("words that are nearly right") {
    CHECK(error_of("state=compting").find("; did you mean computing?") != std::string::npos);
    CHECK(error_of("state=zzzzzz").find("did you mean") == std::string::npos);
}

TEST_CASE("ending the job, or another signal to it") {
    Desk desk;
    const auto character = [](char32_t c) { return Key{Key::Kind::kCharacter, c, 0, 0}; };
    CHECK(desk.press(character(U'K')) == Command::kNone);
    CHECK(desk.view.prompt == Prompt::kSignal);
    CHECK(desk.view.typed == "TERM");
    CHECK(desk.press(Key::Kind::kEscape) == Command::kNone);
    CHECK(desk.view.prompt == Prompt::kNone);
    desk.press(character(U'K'));
    CHECK(desk.press(Key::Kind::kEnter) == Command::kSignal);
    CHECK(desk.view.signal == SIGTERM);
    for (const auto& [word, signal] :
         {std::pair("usr1", SIGUSR1), {"SIGINT", SIGINT}, {"stop", SIGTSTP}, {"9", SIGKILL}}) {
        desk.press(character(U'K'));
        desk.press(character(0x15));
        desk.type(word);
        CHECK(desk.press(Key::Kind::kEnter) == Command::kSignal);
        CHECK(desk.view.signal == signal);
    }
    desk.press(character(U'K'));
    desk.type("X");
    CHECK(desk.press(Key::Kind::kEnter) == Command::kNone);
    CHECK(desk.view.notice.find("expected TERM") != std::string::npos);
    CHECK(desk.view.prompt == Prompt::kSignal);
}

TEST_CASE("the list of jobs, and the way back") {
    Desk desk;
    const std::vector<JobLine> jobs{{"a-1-0", 4, Moment{1000}, "ring", "/home/me"},
                                    {"b-1-0", 8, Moment{65'000}, "solver", "/scratch"}};
    const auto press = [&](Key key) {
        const Order order = order_of(desk.model.now(), desk.view);
        const Scene scene{desk.model.now(),    order,   desk.view, 0,    false,
                          desk.model.now().at, nullptr, nullptr,   &jobs};
        return markers::press(desk.view, key, scene, desk.size, desk.model.earliest());
    };
    desk.view.display = Display::kTask;
    CHECK(press({Key::Kind::kCharacter, U'L', 0, 0}) == Command::kListJobs);
    CHECK(desk.view.display == Display::kJobs);
    press({Key::Kind::kDown, 0, 0, 0});
    press({Key::Kind::kDown, 0, 0, 0});
    CHECK(desk.view.job_at == 1);
    const Order order = order_of(desk.model.now(), desk.view);
    const Scene scene{desk.model.now(),    order,   desk.view, 0,    false,
                      desk.model.now().at, nullptr, nullptr,   &jobs};
    const std::string text = render(scene, desk.size, Glyphs(false)).text();
    CHECK(text.find(" JOB    TASKS  ELAPSED  PROGRAM  DIRECTORY") != std::string::npos);
    CHECK(text.find(" b-1-0  8      1:05     solver   /scratch") != std::string::npos);
    CHECK(press({Key::Kind::kEnter, 0, 0, 0}) == Command::kThisJob);
    CHECK(desk.view.display == desk.view.before);
    press({Key::Kind::kCharacter, U'L', 0, 0});
    press({Key::Kind::kEscape, 0, 0, 0});
    CHECK(desk.view.display != Display::kJobs);
}

TEST_CASE("sorting and pinning") {
    Desk desk;
    using Tasks = std::vector<TaskId>;
    desk.view.sort = SortBy::kState;
    CHECK(desk.tasks() == Tasks{7, 5, 2, 4, 3, 1, 0, 6});
    desk.view.backwards = true;
    CHECK(desk.tasks() == Tasks{6, 0, 1, 3, 4, 2, 5, 7});
    desk.view.backwards = false;
    desk.view.sort = SortBy::kMemory;
    CHECK(desk.tasks().front() == 7);
    desk.view.sort = SortBy::kCpu;
    CHECK(desk.tasks().front() == 0);
    desk.view.sort = SortBy::kWait;
    CHECK(desk.tasks().front() == 2);
    desk.view.sort = SortBy::kProgress;
    CHECK(desk.tasks().back() == 6);
    desk.view.sort = SortBy::kTask;
    desk.view.filter = Filter::parse("rank=0-1").value();
    desk.view.pinned = {5};
    CHECK(desk.tasks() == Tasks{5, 0, 1});
}

TEST_CASE("moving") {
    Desk desk;
    desk.press(Key::Kind::kDown);
    desk.type("jj");
    CHECK(desk.view.selected == 3);
    desk.type("k");
    CHECK(desk.view.selected == 2);
    desk.press(Key::Kind::kPageDown);
    CHECK(desk.view.selected == 7);
    desk.press(Key::Kind::kDown);
    CHECK(desk.view.selected == 7);
    desk.type("g");
    desk.press(Key::Kind::kUp);
    CHECK(desk.view.selected == 0);
    desk.type("G");
    CHECK(desk.view.selected == 7);
    desk.press(Key::Kind::kRight);
    CHECK(desk.view.text_from > 0);
    desk.press(Key::Kind::kLeft);
    desk.press(Key::Kind::kLeft);
    CHECK(desk.view.text_from == 0);
}

TEST_CASE("prompts") {
    Desk desk;
    desk.type("fstate=wating");
    CHECK(desk.view.prompt == Prompt::kFilter);
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.notice.find("wating") != std::string::npos);
    CHECK(desk.view.prompt == Prompt::kFilter);  // to be mended
    for (int i = 0; i < 5; ++i) desk.press(Key::Kind::kBackspace);
    desk.type("aiting");
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.prompt == Prompt::kNone);
    CHECK(desk.tasks() == std::vector<TaskId>{1, 2, 3});
    desk.press(Key::Kind::kEscape);
    CHECK(desk.tasks().size() == 8);
    desk.type("/sigsegv");
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.selected == 7);
    desk.type("/type");
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.selected == 1);
    desk.type("n");
    CHECK(desk.view.selected == 2);
    desk.type("n");
    CHECK(desk.view.selected == 1);
    desk.type("N");
    CHECK(desk.view.selected == 2);
    desk.type("/zzz");
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.notice.find("zzz") != std::string::npos);
    CHECK(desk.view.selected == 2);
    desk.type("/q");
    CHECK(desk.view.prompt == Prompt::kSearch);
    desk.press(Key::Kind::kEscape);
    CHECK(desk.view.prompt == Prompt::kNone);
}

TEST_CASE("displays and the ways back") {
    Desk desk;
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.display == Display::kTask);
    desk.type("?");
    CHECK(desk.view.display == Display::kHelp);
    desk.type("q");
    CHECK(desk.view.display == Display::kAuto);
    desk.type("a");
    CHECK(desk.view.display == Display::kCells);
    desk.press(Key::Kind::kRight);
    CHECK(desk.view.selected == 1);
    desk.type("a");
    CHECK(desk.view.display == Display::kRows);
    CHECK(desk.press(Key{Key::Kind::kCharacter, U'q', 0, 0}) == Command::kQuit);
    CHECK(desk.press(Key{Key::Kind::kCharacter, 0x0c, 0, 0}) == Command::kRepaint);
    CHECK(desk.press(Key{Key::Kind::kCharacter, U'J', 0, 0}) == Command::kNextJob);
    desk.type("f");
    CHECK(desk.press(Key{Key::Kind::kCharacter, 0x03, 0, 0}) == Command::kQuit);
}

TEST_CASE("a cell leads to its worst task") {
    Desk desk;
    desk.size = {5, 5};  // two lines of three cells, for eight tasks
    desk.view.display = Display::kCells;
    desk.view.selected = 6;
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.display == Display::kTask);
    CHECK(desk.view.selected == 7);
    desk.press(Key::Kind::kEnter);
    CHECK(desk.view.display == Display::kCells);
}

TEST_CASE("standing still and going back") {
    Desk desk;
    desk.type("p");
    CHECK(desk.view.standing == Moment{16'000});
    desk.type("[[");
    CHECK(desk.view.standing == Moment{14'000});
    desk.type("{");
    CHECK(desk.view.standing == Moment{13'900});
    for (int i = 0; i < 100; ++i) desk.type("[");
    CHECK(desk.view.standing == Moment{0});
    desk.type("]");
    CHECK(desk.view.standing == Moment{1'000});
    for (int i = 0; i < 100; ++i) desk.type("]");
    CHECK_FALSE(desk.view.standing);
    desk.type("[p");
    CHECK_FALSE(desk.view.standing);
}

TEST_CASE("clicks") {
    Desk desk;
    // Title, progress, heads, then the tasks.
    desk.press(Key{Key::Kind::kClick, 0, 5, 10});
    CHECK(desk.view.selected == 2);
    desk.press(Key{Key::Kind::kClick, 0, 0, 10});
    desk.press(Key{Key::Kind::kClick, 0, 22, 10});
    CHECK(desk.view.selected == 2);
    desk.press(Key{Key::Kind::kClick, 0, 5, 10});
    CHECK(desk.view.display == Display::kTask);
    desk.press(Key::Kind::kWheelDown);
    CHECK(desk.view.top == 3);
}

TEST_CASE("whatever keys are pressed, the view can be drawn") {
    std::mt19937 random(11);
    Desk desk;
    const std::string_view keys = "jkgGa+-srf/nN p[]{}J?qh\x15zstate=waiting rank=1-3";
    for (int i = 0; i < 20'000; ++i) {
        desk.size = {static_cast<int>(random() % 100), static_cast<int>(random() % 30)};
        const auto kind = static_cast<Key::Kind>(random() % 15);
        desk.press(Key{random() % 3 == 0 ? kind : Key::Kind::kCharacter,
                       static_cast<char32_t>(keys[random() % keys.size()]),
                       static_cast<int>(random() % 30), static_cast<int>(random() % 100)});
        const Grid grid = draw(desk.model, desk.view, desk.size);
        REQUIRE(grid.size() == desk.size);
    }
}
