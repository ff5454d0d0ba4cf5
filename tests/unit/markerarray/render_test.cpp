// Golden screens: what render() makes of a sample job, as text.
#include "markerarray/render.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/markerarray/sample_job.hpp"
#include "tests/unit/poe/golden.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::markers::test;

namespace {

void check_golden(const std::string& name, const Grid& grid) {
    const std::string text = grid.text();
    CHECK(text == poe::test::golden_text("markers/" + name + ".txt", text));
}

// A hundred thousand tasks: one in 5,000 has failed, one in ten waits.
Model large_job() {
    Model model;
    model.begin(facts_of(100'000, 1000), Moment{0});
    for (TaskId task = 0; task < 100'000; ++task) {
        const bool failed = task % 5000 == 4321;
        const bool waits = task % 10 == 3;
        TaskRow row = row_of(task,
                             failed  ? Activity::kFailed
                             : waits ? Activity::kReceiving
                                     : Activity::kComputing,
                             failed  ? "exit 3"
                             : waits ? "mpc_brecv from 0"
                                     : "computing");
        row.node = task / 100;
        model.put(std::move(row), Moment{1000});
    }
    model.tick(Moment{2000}, Moment{2000}, false);
    return model;
}

constexpr Size kSmall{20, 5};
constexpr Size kUsual{80, 24};
constexpr Size kLarge{200, 60};

}  // namespace

TEST_CASE("the table at three sizes") {
    const Model model = sample_job();
    View view;
    check_golden("table_80x24", draw(model, view, kUsual));
    check_golden("table_80x24_ascii", draw(model, view, kUsual, false));
    check_golden("table_200x60", draw(model, view, kLarge));
    check_golden("table_20x5", draw(model, view, kSmall));
}

TEST_CASE("rows that there is no room for are counted") {
    Model model;
    model.begin(facts_of(40, 1), Moment{0});
    for (TaskId task = 0; task < 40; ++task)
        model.put(row_of(task, Activity::kComputing, "computing"), Moment{10});
    View view;
    view.display = Display::kRows;
    CHECK(draw(model, view, {80, 24}).text().find("[19 more]") != std::string::npos);
    const Order order = order_of(model.now(), view);
    const Scene scene{model.now(), order, view, 0, false, model.now().at, nullptr};
    const std::string rows = render_rows_only(scene, {80, 13}, Glyphs(false)).text();
    CHECK(rows.find("\n30 more; pmarray") != std::string::npos);
    CHECK(rows.find("\n   9 ") != std::string::npos);
    CHECK(rows.find("\n  10 ") == std::string::npos);
    CHECK(render_rows_only(scene, {80, 50}, Glyphs(false)).text().find("more") ==
          std::string::npos);
}

TEST_CASE("cells, at three sizes") {
    const Model model = large_job();
    View view;
    check_golden("cells_80x24", draw(model, view, kUsual));
    check_golden("cells_20x5", draw(model, view, kSmall));
    view.selected = 99'999;
    check_golden("cells_200x60", draw(model, view, kLarge));
    view.zoom = 20;
    check_golden("cells_80x24_zoomed", draw(model, view, kUsual));
    view.display = Display::kRows;
    view.sort = SortBy::kState;
    view.selected = 4321;
    check_golden("rows_of_many_80x24", draw(model, view, kUsual));
}

TEST_CASE("one task, help, prompts, nothing") {
    const Model model = sample_job();
    View view;
    view.display = Display::kTask;
    view.selected = 3;
    check_golden("task_80x24", draw(model, view, kUsual));
    check_golden("task_20x5", draw(model, view, kSmall));
    view.display = Display::kHelp;
    check_golden("help_80x24", draw(model, view, kUsual));
    view.display = Display::kAuto;
    view.prompt = Prompt::kFilter;
    view.typed = "state=waiting";
    view.filter = Filter::parse(view.typed).value();
    view.filter_text = view.typed;
    check_golden("filter_80x24", draw(model, view, kUsual));
    CHECK(render_waiting({30, 2}, "waits for a job").text() == "waits for a job\n\n");
}

TEST_CASE("a view that stands still shows the past") {
    const Model model = sample_job();
    View view;
    view.standing = Moment{6'000};
    check_golden("past_80x24", draw(model, view, kUsual));
}

TEST_CASE("any size is drawn, and nothing beyond it") {
    const Model model = sample_job();
    for (const Display display :
         {Display::kAuto, Display::kRows, Display::kCells, Display::kTask, Display::kHelp})
        for (int columns = 0; columns < 90; columns += columns < 30 ? 1 : 7)
            for (int lines = 0; lines < 30; ++lines) {
                View view;
                view.display = display;
                view.selected = 7;
                const Grid grid = draw(model, view, {columns, lines});
                CHECK(grid.size() == Size{columns, lines});
                // A wide character is whole or not there.
                for (int line = 0; line < lines; ++line)
                    if (columns > 0) CHECK(grid.at(line, 0).glyph != 0);
            }
}

TEST_CASE("the selected task is always on the screen") {
    const Model model = sample_job();
    for (int lines = 3; lines < 12; ++lines)
        for (TaskId task = 0; task < 8; ++task) {
            View view;
            view.display = Display::kRows;
            view.selected = task;
            const Grid grid = draw(model, view, {80, lines});
            int selected = 0;
            for (int line = 0; line < lines; ++line)
                if (grid.at(line, 0).style.selected) ++selected;
            CHECK(selected == 1);
        }
}
