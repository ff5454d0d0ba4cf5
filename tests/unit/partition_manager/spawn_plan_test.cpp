// What a request for more tasks becomes: a job on the nodes of the first, within bounds.
#include "partition_manager/home/spawn_plan.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace poe;
using namespace poe::pm;

namespace {

JobSpec base_of(std::vector<std::string> nodes, NodeIndex home) {
    JobSpec base;
    base.id = "j";
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        base.tasks.push_back({static_cast<NodeIndex>(node), 0});
        base.addresses.push_back("10.0.0." + std::to_string(node));
    }
    base.nodes = std::move(nodes);
    base.commands = {{"first"}};
    base.launch.home = home;
    base.trace.level = 1;
    base.stdin_mode.kind = StdinMode::Kind::kAll;
    return base;
}

SpawnTasks request(std::vector<SpawnCommand> commands) {
    SpawnTasks ask;
    ask.asker = {"j", 1, 7};
    ask.task = 2;
    ask.commands = std::move(commands);
    return ask;
}

SpawnPlan plan_of(std::size_t next_node = 0) {
    SpawnPlan plan;
    plan.id = "j-s1";
    plan.first = 3;
    plan.next_node = next_node;
    plan.make_key = [] { return JobKey{1}; };
    return plan;
}

std::vector<std::string> places(const JobSpec& job) {
    std::vector<std::string> names;
    for (const TaskSpec& task : job.tasks)
        names.push_back(job.nodes.at(static_cast<std::size_t>(task.node)));
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("spawned tasks go to the nodes in turns, and go on where the last stopped",
          "[spawn_plan]") {
    const JobSpec base = base_of({"a", "b", "c"}, 1);
    SpawnPlan plan = plan_of(1);
    const JobSpec job =
        make_spawned_job(base, request({{{"x", "1"}, 2, {}, {}}, {{"y"}, 2, {}, {}}}), plan);
    CHECK(job.id == "j-s1");
    CHECK(places(job) == Names{"b", "c", "a", "b"});
    CHECK(job.nodes == Names{"a", "b", "c"});
    CHECK(job.launch.home == 1);
    CHECK(plan.next_node == 5);
    CHECK(job.commands == std::vector<Command>{{"x", "1"}, {"y"}});
    CHECK(job.tasks[3].command == 1);
    REQUIRE(job.spawned);
    CHECK(job.spawned->parent == "j");
    CHECK(job.spawned->parent_task == 2);
    CHECK(public_number(job, 1) == 4);
    CHECK(job.job_key == JobKey{1});
    CHECK(job.stdin_mode.kind == StdinMode::Kind::kNone);
    CHECK(job.trace.level == 0);
}

TEST_CASE("spawned tasks go to the hosts that are named", "[spawn_plan]") {
    const JobSpec base = base_of({"a", "b", "c"}, 0);
    SpawnPlan plan = plan_of();
    const JobSpec job = make_spawned_job(base, request({{{"x"}, 3, {"c", "b"}, {}}}), plan);
    CHECK(places(job) == Names{"c", "b", "c"});
    CHECK(job.nodes == Names{"b", "c"});
    CHECK(job.addresses == Names{"10.0.0.1", "10.0.0.2"});
    CHECK(job.launch.home == -1);
    CHECK(plan.next_node == 0);
    CHECK_THROWS_WITH(make_spawned_job(base, request({{{"x"}, 1, {"d"}, {}}}), plan),
                      "the host d is no node of the job, which has a, b, c");
}

TEST_CASE("what tasks ask for has bounds", "[spawn_plan]") {
    const JobSpec base = base_of({"a"}, 0);
    SpawnPlan plan = plan_of();
    const auto tasks = static_cast<std::uint32_t>(kMostSpawnedAtOnce);
    CHECK(make_spawned_job(base, request({{{"x"}, tasks, {}, {}}}), plan).tasks.size() == tasks);
    CHECK_THROWS_AS(make_spawned_job(base, request({}), plan), Error);
    CHECK_THROWS_AS(make_spawned_job(base, request({{{}, 1, {}, {}}}), plan), Error);
    CHECK_THROWS_AS(make_spawned_job(base, request({{{"x"}, 0, {}, {}}}), plan), Error);
    CHECK_THROWS_AS(make_spawned_job(base, request({{{"x"}, tasks + 1, {}, {}}}), plan), Error);
    CHECK_THROWS_AS(make_spawned_job(
                        base, request({{{"x"}, tasks, {}, {}}, {{"y"}, 0xffffffff, {}, {}}}), plan),
                    Error);
    plan.spawned_before = kMostSpawned;
    CHECK_THROWS_AS(make_spawned_job(base, request({{{"x"}, 1, {}, {}}}), plan), Error);
}

TEST_CASE("an outline says where tasks run", "[spawn_plan]") {
    JobSpec job = base_of({"a", "b"}, 0);
    job.tasks = {{1, 0}, {0, 4}};
    const JobSummary outline = summary_of(job);
    CHECK(outline.id == "j");
    CHECK(outline.nodes == Names{"a", "b"});
    CHECK(outline.node_of_task == std::vector<NodeIndex>{1, 0});
    CHECK(outline.appnum_of_task == std::vector<std::uint32_t>{0, 4});
}
