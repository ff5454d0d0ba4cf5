// The array as lines, as JSON and as a table; options; colours.
#include "markerarray/plain.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "markerarray/pmarray_options.hpp"
#include "tests/unit/markerarray/sample_job.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::markers::test;

namespace {

using Lines = std::vector<std::string>;

std::string option_error(const std::vector<std::string>& arguments) {
    const auto options = read_array_options(arguments);
    return options ? "" : options.error().str();
}

}  // namespace

TEST_CASE("changes that are worth a line") {
    TaskRow before = row_of(3, Activity::kComputing, "computing");
    TaskRow after = before;
    CHECK(change_lines(before, after, Moment{0}).empty());
    after.cpu_percent = 7;
    after.memory = 100;
    after.doing = "mpc_sync";
    after.activity = Activity::kCollective;
    CHECK(change_lines(before, after, Moment{0}).empty());
    after.lights[2] = 63;
    after.text = "two\nlines \033[31m";
    after.progress = {25, 100};
    CHECK(change_lines(before, after, Moment{1234}) ==
          Lines{"   1.234 s  task 3  light 2 red", "   1.234 s  task 3  \"two?lines ?[31m\"",
                "   1.234 s  task 3  25 of 100, 25%"});
    before = after;
    after.progress = {29, 100};
    CHECK(change_lines(before, after, Moment{0}).empty());
    after.activity = Activity::kStopped;
    after.doing = "stopped, computing";
    CHECK(change_lines(before, after, Moment{0}) ==
          Lines{"   0.000 s  task 3  stopped, computing"});
    CHECK(change_lines(after, before, Moment{0}) == Lines{"   0.000 s  task 3  goes on"});
    after.activity = Activity::kFailed;
    after.doing = "killed by SIGSEGV";
    CHECK(change_lines(before, after, Moment{0}) == Lines{"   0.000 s  task 3  killed by SIGSEGV"});
}

TEST_CASE("rows as JSON") {
    const Model model = sample_job();
    TaskRow row = model.now().rows[2];
    row.text = "bad \xff byte";
    const auto json = nlohmann::json::parse(row_json(row, model.now().job, Moment{1500}));
    CHECK(json["time"] == 1.5);
    CHECK(json["task"] == 2);
    CHECK(json["node"] == "n0");
    CHECK(json["state"] == "receiving");
    CHECK(json["waits"] == 12.345);
    CHECK(json["lights"] == nlohmann::json({24, 36, 48}));
    CHECK(json["progress"]["done"] == 31);
    CHECK(json["text"] == "bad \xef\xbf\xbd byte");
    const auto job = nlohmann::json::parse(job_json(model.now().job, Moment{2000}, true));
    CHECK(job["program"] == "./heat2d");
    CHECK(job["tasks"] == 8);
    CHECK(job["ended"] == true);
}

TEST_CASE("a table of all rows, however many") {
    for (const std::uint32_t tasks : {1u, 7u, 300u}) {
        Model model;
        model.begin(facts_of(tasks, 1), Moment{0});
        const std::string text =
            table_text(model.now(), order_of(model.now(), View{}), 0, false, 80, true);
        CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<long>(tasks) + 2);
    }
    const Model model = sample_job();
    const std::string text = table_text(model.now(), {2}, model.lights_used(), true, 80, true);
    CHECK(text.find("brecv from 1 type 7") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 4);
}

TEST_CASE("options of pmarray") {
    const auto all =
        read_array_options({"-once", "--json", "-filter", "rank=1-2", "-sort", "cpu", "job"});
    REQUIRE(all);
    CHECK(all.value().once);
    CHECK(all.value().json);
    CHECK(all.value().sort == SortBy::kCpu);
    CHECK(all.value().filter_text == "rank=1-2");
    CHECK(all.value().job == "job");
    CHECK(read_array_options({"-h"}).value().request == ArrayOptions::Request::kHelp);
    CHECK(option_error({"a", "b"}).find("one job at a time") != std::string::npos);
    CHECK(option_error({"-onse"}).find("did you mean -once?") != std::string::npos);
    CHECK(option_error({"-filter"}).find("needs a value") != std::string::npos);
    CHECK(option_error({"-filter", "state=x"}).find("no state is called") != std::string::npos);
    CHECK(option_error({"-sort", "x"}).find("task, state, cpu") != std::string::npos);
    CHECK(option_error({"-sort"}).find("task, state, cpu") != std::string::npos);
}
