// Mapping tasks to nodes, and the texts that show a map.
#include "partition_manager/job/task_map.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/poe/golden.hpp"

using namespace poe;
using namespace poe::pm;

namespace {

std::vector<bool> find_home(const std::vector<std::string>& names) {
    std::vector<bool> found;
    for (const std::string& name : names) found.push_back(name == "home" || name == "localhost");
    return found;
}

Result<TaskMap> map_with(TaskId procs, const std::string& host_file) {
    const auto file = parse_host_file(host_file, "hosts");
    REQUIRE(file.ok());
    return make_task_map(procs, file.value(), "home", find_home);
}

}  // namespace

TEST_CASE("without a host file all tasks are here, and nobody is asked", "[task_map]") {
    const auto map = make_task_map(3, std::nullopt, "home", [](const auto&) -> std::vector<bool> {
        FAIL("asked for names");
        return {};
    });
    REQUIRE(map.ok());
    CHECK(map.value().nodes == std::vector<std::string>{"home"});
    CHECK(map.value().node_of_task == std::vector<NodeIndex>{0, 0, 0});
}

TEST_CASE("a host file that names this node, under any name", "[task_map]") {
    const auto map = map_with(3, "localhost\nhome shared\nlocalhost\nother-and-unused\n");
    REQUIRE(map.ok());
    CHECK(map.value().nodes == std::vector<std::string>{"home"});
    CHECK(map.value().node_of_task == std::vector<NodeIndex>{0, 0, 0});
}

TEST_CASE("each name is asked for once", "[task_map]") {
    std::vector<std::string> asked;
    const auto file = parse_host_file("a\nb\na\na\nb\n", "hosts");
    REQUIRE(file.ok());
    const auto map = make_task_map(5, file.value(), "home", [&](const auto& names) {
        CHECK(asked.empty());
        asked = names;
        return std::vector<bool>(names.size(), true);
    });
    REQUIRE(map.ok());
    CHECK(asked == std::vector<std::string>{"a", "b"});
}

TEST_CASE("fewer nodes than tasks is 0031-125", "[task_map]") {
    const auto map = map_with(4, "home\nhome\n");
    REQUIRE_FALSE(map.ok());
    CHECK(map.error().number == 125);
    CHECK(
        map.error().str() ==
        "hosts: the host file names 2 nodes, but the job has 4 tasks; add 2 lines (a node may come "
        "again), or use -procs 2, or -hostfile NULL to run all tasks on this node");
    CHECK(map_with(1, "! empty\n").error().str() ==
          "hosts: the host file names 0 nodes, but the job has 1 task; add 1 line (a node may come "
          "again), or -hostfile NULL to run all tasks on this node");
}

TEST_CASE("other nodes keep their names, this one gets its own", "[task_map]") {
    const auto map = map_with(5, "n9\nlocalhost\nn3\nhome\nn9\n");
    REQUIRE(map.ok());
    CHECK(map.value().nodes == std::vector<std::string>{"n9", "home", "n3"});
    CHECK(map.value().node_of_task == std::vector<NodeIndex>{0, 1, 2, 1, 0});
    CHECK(map.value().home == 1);
    CHECK(map_with(1, "n9\n").value().home == -1);
}

TEST_CASE("pools are refused with their place", "[task_map]") {
    CHECK(map_with(2, "\n@3\n").error().str() ==
          "hosts:2:1: pool \"@3\" is not known; pools need a resource manager, which this version "
          "does "
          "not have; name nodes, or use -hostfile NULL to run all tasks on this node");
}

TEST_CASE("the saved host file gives the same map", "[task_map]") {
    const TaskMap map{{"a", "b"}, {0, 1, 0}, -1};
    CHECK(save_host_file_text(map) == "a\nb\na\n");
    const auto again = parse_host_file(save_host_file_text(map), "saved");
    REQUIRE(again.ok());
    CHECK(again.value().lines.size() == 3);
    CHECK_THROWS_AS(save_host_file(map, "/absent/file"), Error);
}

TEST_CASE("the dry run", "[task_map]") {
    const TaskMap map{{"home", "a-longer-name"}, {0, 1, 1, 0}, 0};
    const std::string text =
        dry_run_text(map, {{"./server", "-v"}, {"./client", "two words", ""}}, {0, 1, 1, 1});
    CHECK(text == poe::test::golden_text("dry_run.txt", text));

    const TaskMap large{{"n"}, std::vector<NodeIndex>(12345, 0), 0};
    const std::string lines = dry_run_text(large, {{"p"}}, std::vector<std::uint32_t>(12345, 0));
    CHECK(lines.substr(0, 50) == " task  node  program\n    0  n     p\n    1  n     p");
    CHECK(lines.find("\n12344  n     p\n") != std::string::npos);
}
