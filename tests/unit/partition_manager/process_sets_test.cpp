// The process sets of a job as the text of a variable.
#include "partition_manager/job/process_sets.hpp"

#include <catch2/catch.hpp>

#include "partition_manager/job/commands_file.hpp"

using namespace poe;
using namespace poe::pm;

namespace {

JobSpec job_of_two_nodes() {
    JobSpec job;
    job.nodes = {"n0", "n1", "unused"};
    job.commands = {{"./a"}, {"./b"}};
    job.tasks = {{0, 0}, {1, 1}, {0, 1}, {1, 1}, {1, 0}};
    return job;
}

}  // namespace

TEST_CASE("the text has the sets of nodes, programs and others, without empty ones", "[psets]") {
    CHECK(process_sets_text(job_of_two_nodes(), {{"poe://set/sea", {1, 2, 4}}}) ==
          "poe://node/n0=0,2 poe://node/n1=1,3,4 poe://program/0=0,4 poe://program/1=1-3 "
          "poe://set/sea=1,2,4");
}

TEST_CASE("a name that the text cannot hold is left out, as is what exceeds a variable",
          "[psets]") {
    JobSpec job = job_of_two_nodes();
    job.nodes[0] = "a b";
    CHECK(process_sets_text(job, {}).starts_with("poe://node/n1="));
    std::vector<NamedTasks> many;
    for (int i = 0; i < 20000; ++i) many.push_back({"poe://set/" + std::to_string(i), {0}});
    const std::string text = process_sets_text(job, many);
    CHECK(text.size() <= 100'000);
    CHECK(text.size() > 99'000);
    CHECK(text.ends_with("=0"));
}

TEST_CASE("tasks join a set once", "[psets]") {
    std::vector<NamedTasks> sets;
    add_to_set(sets, "x", 0);
    add_to_set(sets, "y", 1);
    add_to_set(sets, "x", 1);
    add_to_set(sets, "x", 1);
    REQUIRE(sets.size() == 2);
    CHECK(sets[0].tasks == std::vector<TaskId>{0, 1});
    CHECK(sets[1].tasks == std::vector<TaskId>{1});
}

TEST_CASE("a commands file names sets for the lines that follow", "[psets]") {
    const auto file = parse_commands_file(
        "./a\n#pset sea wet\n./b\n# note\n./c\n#psets\n#pset\n./d\n", "commands");
    REQUIRE(file);
    const auto& lines = file.value().lines;
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].sets.empty());
    CHECK(lines[1].sets == std::vector<std::string>{"sea", "wet"});
    CHECK(lines[2].sets == lines[1].sets);
    CHECK(lines[3].sets.empty());
    const auto wrong = parse_commands_file("./a\n#pset a=b\n", "commands");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().line == 2);
    CHECK(wrong.error().str().find("a=b") != std::string::npos);
}
