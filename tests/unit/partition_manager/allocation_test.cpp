// Nodes for tasks: dealing, pools, and the words for Slurm.
#include "partition_manager/job/allocation.hpp"

#include <map>
#include <numeric>

#include <catch2/catch.hpp>

#include "partition_manager/job/slurm.hpp"

using namespace poe;
using namespace poe::pm;

using Names = std::vector<std::string>;

TEST_CASE("tasks are dealt in even blocks", "[allocation]") {
    const auto dealt = [](TaskId tasks, TaskId nodes, TaskId each, std::size_t available) {
        auto result = deal_tasks({tasks, nodes, each}, available, "pool p");
        return result ? result.value() : std::vector<TaskId>{};
    };
    CHECK(dealt(4, 0, 0, 9) == std::vector<TaskId>{1, 1, 1, 1});
    CHECK(dealt(5, 0, 0, 2) == std::vector<TaskId>{3, 2});
    CHECK(dealt(7, 3, 0, 9) == std::vector<TaskId>{3, 2, 2});
    CHECK(dealt(8, 0, 3, 9) == std::vector<TaskId>{3, 3, 2});
    CHECK(dealt(4, 2, 3, 9) == std::vector<TaskId>{3, 1});
    CHECK(dealt(2, 2, 3, 9) == std::vector<TaskId>{1, 1});
    CHECK(dealt(3, 4, 0, 9).empty());
    CHECK(dealt(4, 4, 0, 3).empty());
    CHECK(dealt(9, 2, 4, 9).empty());
    CHECK(dealt(1, 0, 0, 0).empty());
}

TEST_CASE("whatever is asked for, every node gets a task and every task a node", "[allocation]") {
    for (TaskId tasks = 1; tasks <= 20; ++tasks)
        for (TaskId nodes = 0; nodes <= 8; ++nodes)
            for (TaskId each = 0; each <= 8; ++each) {
                const auto dealt = deal_tasks({tasks, nodes, each}, 6, "x");
                if (!dealt) continue;
                const std::vector<TaskId>& share = dealt.value();
                REQUIRE(std::accumulate(share.begin(), share.end(), 0) == tasks);
                for (const TaskId one : share) {
                    REQUIRE(one > 0);
                    if (each > 0) REQUIRE(one <= each);
                }
                if (nodes > 0) REQUIRE(share.size() == static_cast<std::size_t>(nodes));
            }
}

TEST_CASE("pools files", "[pools]") {
    const auto pools =
        parse_pools("! of the machine room\n\nlarge n1 n2 n3\nsmall s1\nlarge n4\n", "p");
    REQUIRE(pools);
    CHECK((pools.value().nodes ==
           std::map<std::string, Names>{{"large", {"n1", "n2", "n3", "n4"}}, {"small", {"s1"}}}));
    CHECK(
        parse_pools("a n1\nb\n", "p").error().str() ==
        "p:2:1: pool \"b\" has no nodes; expected a pool's name, and then the names of its nodes");
    CHECK_FALSE(parse_pools("a n1 @x\n", "p"));
    CHECK_FALSE(parse_pools("a 'n 1'\n", "p"));
    CHECK(nodes_of_pool(pools.value(), "huge").error().str() ==
          "p: there is no pool \"huge\"; expected one of large, small");
}

TEST_CASE("a host file of pools", "[allocation]") {
    const Pools pools{"p", {{"a", {"a1", "a2"}}, {"b", {"b1", "b2", "b3"}}}};
    const auto allocated = [&](const std::string& text, const NodeRequest& request) {
        const auto file = parse_host_file(text, "hosts");
        REQUIRE(file.ok());
        auto names = allocate_from_pools(request, file.value(), pools);
        return names ? names.value() : Names{names.error().str()};
    };
    CHECK(allocated("@b\n", {3, 0, 0}) == Names{"b1", "b2", "b3"});
    CHECK(allocated("@a\n@b\n", {4, 0, 0}) == Names{"a1", "b1", "b2", "b3"});
    CHECK(allocated("@b\n@a\n@b\n", {3, 0, 0}) == Names{"b1", "a1", "b2"});
    CHECK(allocated("@b\n", {4, 2, 0}) == Names{"b1", "b1", "b2", "b2"});
    CHECK(allocated("@b\n", {4, 0, 3}) == Names{"b1", "b1", "b1", "b2"});
    CHECK(allocated("@c\n", {1, 0, 0})[0].find("there is no pool \"c\"") != std::string::npos);
    CHECK(allocated("@b\n", {4, 4, 0})[0].find("pool b: it has 3 nodes") != std::string::npos);
}

TEST_CASE("the allocation that poe is in", "[slurm]") {
    std::map<std::string, std::string> variables;
    const GetVariable get = [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
    CHECK_FALSE(slurm_allocation(get));
    variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-3]"}, {"SLURM_NTASKS", "6"}};
    REQUIRE(slurm_allocation(get));
    CHECK(slurm_allocation(get)->node_list == "n[1-3]");
    CHECK(slurm_allocation(get)->tasks == 6);
    variables["SLURM_STEP_ID"] = "0";
    CHECK_FALSE(slurm_allocation(get));
}

TEST_CASE("command lines for Slurm", "[slurm]") {
    CHECK(slurm_salloc({6, 3, 2}, "main", true, {"/poe", "a.out"}) ==
          Command{"salloc", "--quiet", "--no-kill", "--ntasks=6", "--nodes=3",
                  "--ntasks-per-node=2", "--partition=main", "/poe", "a.out"});
    CHECK(slurm_sbatch({2, 0, 0}, "") ==
          Command{"sbatch", "--parsable", "--no-kill", "--job-name=poe", "--ntasks=2"});
    CHECK(slurm_batch_script({"/poe", "a b", "-procs", "2"}) ==
          "#!/bin/sh\nexec /poe 'a b' -procs 2\n");
}
