// The rows and their past.
#include "markerarray/model.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "base/suggest.hpp"
#include "markerarray/pace.hpp"
#include "terminal/words.hpp"
#include "tests/unit/markerarray/sample_job.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::markers::test;

TEST_CASE("a row that has not changed is no change") {
    Model model;
    model.begin(facts_of(3, 1), Moment{0});
    CHECK(model.put(row_of(1, Activity::kComputing, "computing"), Moment{10}));
    CHECK_FALSE(model.put(row_of(1, Activity::kComputing, "computing"), Moment{20}));
    CHECK_FALSE(model.put(row_of(3, Activity::kComputing, "computing"), Moment{20}));
    CHECK_FALSE(model.put(row_of(-1, Activity::kComputing, "computing"), Moment{20}));
    CHECK(model.now().rows[1].doing == "computing");
    CHECK(model.now().rows[0].activity == Activity::kUnknown);
}

TEST_CASE("every remembered moment can be seen again") {
    std::mt19937 random(5);
    Model model;
    model.begin(facts_of(5, 1), Moment{0});
    std::vector<std::vector<TaskRow>> seen;
    for (int now = 1; now <= 500; ++now) {
        TaskRow row = row_of(static_cast<TaskId>(random() % 5), Activity::kComputing, "");
        row.text = std::to_string(random() % 100);
        row.progress = {random() % 10, 10};
        model.put(std::move(row), Moment{now});
        seen.push_back(model.now().rows);
    }
    for (int now = 1; now <= 500; ++now) {
        const Picture then = model.at(Moment{now});
        CHECK(then.at == Moment{now});
        CHECK(then.rows == seen[static_cast<std::size_t>(now - 1)]);
    }
    CHECK(model.at(Moment{1000}).rows == model.now().rows);
}

TEST_CASE("the past is a minute long, and takes bounded memory") {
    Model model(100'000);
    model.begin(facts_of(2, 1), Moment{0});
    CHECK(model.earliest() == Moment{0});
    model.put(row_of(0, Activity::kComputing, "a"), Moment{100});
    model.put(row_of(0, Activity::kComputing, "b"), Moment{50'000});
    CHECK(model.at(Moment{200}).rows[0].doing == "a");
    model.put(row_of(0, Activity::kComputing, "c"), Moment{70'000});
    CHECK(model.earliest() == Moment{10'000});
    CHECK(model.at(Moment{200}).rows[0].doing == "a");
    for (int i = 0; i < 10'000; ++i)
        model.put(row_of(0, Activity::kComputing, std::to_string(i)), Moment{70'001});
    CHECK(model.earliest() == Moment{70'001});
    CHECK(model.at(Moment{0}).at == Moment{70'001});
}

TEST_CASE("the marks of a task, the latest first") {
    Model model;
    model.begin(facts_of(2, 1), Moment{0});
    const auto put = [&](TaskId task, const char* text, const char* doing, int now) {
        TaskRow row = row_of(task, Activity::kComputing, doing);
        row.text = text;
        model.put(std::move(row), Moment{now});
    };
    put(0, "one", "", 10);
    put(1, "other", "", 11);
    put(0, "one", "something else", 12);
    put(0, "two", "", 13);
    const auto marks = model.marks_of(0, 10);
    REQUIRE(marks.size() == 2);
    CHECK(marks[0].at == Moment{13});
    CHECK(marks[0].row.text == "two");
    CHECK(marks[1].at == Moment{10});
    CHECK(marks[1].row.text == "one");
    CHECK(model.marks_of(0, 1).size() == 1);
    CHECK(model.marks_of(7, 10).empty());
}

TEST_CASE("lights used, progress and its pace") {
    Model model;
    model.begin(facts_of(2, 1), Moment{0});
    CHECK(model.lights_used() == 0);
    CHECK_FALSE(model.any_progress());
    TaskRow row = row_of(0, Activity::kComputing, "");
    row.lights[6] = 1;
    row.progress = {0, 100};
    model.put(row, Moment{1000});
    CHECK(model.lights_used() == 7);
    CHECK(model.any_progress());
    CHECK(pace_of(model.now().rows[0], Moment{1000}).left < Moment{0});
    row.progress = {20, 100};
    model.put(row, Moment{3000});
    const Pace pace = pace_of(model.now().rows[0], Moment{3000});
    CHECK(pace.per_second == Approx(10));
    CHECK(pace.left == Moment{8000});
    row.progress = {50, 200};  // another piece of work
    model.put(row, Moment{4000});
    row.progress = {60, 200};
    model.put(row, Moment{5000});
    CHECK(pace_of(model.now().rows[0], Moment{5000}).per_second == Approx(10));
    row.progress = {200, 200};
    model.put(row, Moment{6000});
    CHECK(pace_of(model.now().rows[0], Moment{6000}).left < Moment{0});
    CHECK(progress_of(model.now()).progress == Progress{200, 200});
    row.task = 1;
    row.progress = {0, 200};
    model.put(row, Moment{6000});
    row.progress = {100, 200};
    model.put(row, Moment{7000});
    CHECK(share_of(progress_of(model.now()).progress) == Approx(0.75));
    CHECK(progress_of(model.now()).pace.left == Moment{1000});
}

TEST_CASE("numbers in few characters") {
    CHECK(time_words(Moment{0}) == "0.0 s");
    CHECK(time_words(Moment{-5}) == "0.0 s");
    CHECK(time_words(Moment{9'990}) == "9.9 s");
    CHECK(time_words(Moment{59'999}) == "59 s");
    CHECK(time_words(Moment{754'000}) == "12:34");
    CHECK(time_words(Moment{3'600'000}) == "1:00:00");
    CHECK(time_words(Moment{97'200'000}) == "1d 03h");
    CHECK(size_words(0) == "0K");
    CHECK(size_words(Bytes{999} << 10) == "999K");
    CHECK(size_words(Bytes{1} << 20) == "1.0M");
    CHECK(size_words(Bytes{34} << 20) == "34M");
    CHECK(size_words(~Bytes{0}) == "16384P");
    CHECK(rate_words(0.25) == "0.25");
    CHECK(rate_words(3.4) == "3.4");
    CHECK(rate_words(1234) == "1234");
    CHECK(rate_words(1.2e6) == "1.2M");
    CHECK(count_words(1, "task") == "1 task");
    CHECK(count_words(0, "task") == "0 tasks");
}
