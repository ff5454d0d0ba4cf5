// Deadlocks over several nodes: rounds of questions and answers.
#include "partition_manager/home/deadlock_watch.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;

namespace {

TaskState waits(TaskId task, TaskId from) {
    TaskState state;
    state.task = task;
    state.life = TaskState::Life::kInside;
    state.doing = {Call::kBrecv, from, 1, 0, 1};
    state.awaited = {Awaited::Kind::kMessage, from, 1};
    state.measured = true;
    state.unmoved_ms = 60000;
    return state;
}

TaskState ended(TaskId task) {
    TaskState state;
    state.task = task;
    state.life = TaskState::Life::kEnded;
    return state;
}

// One task a node, and the rest on the last.
std::vector<NodeIndex> places(TaskId tasks, NodeIndex nodes) {
    std::vector<NodeIndex> list;
    for (TaskId task = 0; task < tasks; ++task) list.push_back(std::min(task, nodes - 1));
    return list;
}

struct Home {
    explicit Home(TaskId tasks, NodeIndex nodes)
        : watch(places(tasks, nodes), nodes, std::chrono::seconds(10),
                {[this](NodeIndex node, AskTaskStates ask) { asked.emplace_back(node, ask.round); },
                 [this](const WaitFindings& findings) { found.push_back(findings.stuck); }}) {}
    std::vector<std::pair<NodeIndex, std::uint32_t>> asked;
    std::vector<std::vector<TaskId>> found;
    DeadlockWatch watch;
};

using Found = std::vector<std::vector<TaskId>>;

}  // namespace

TEST_CASE("one node is judged at once, and told once", "[deadlock_watch]") {
    Home home(3, 1);
    home.watch.on_states(0, {0, {waits(0, 1), waits(1, 0)}});
    CHECK(home.found == Found{{0, 1}});
    CHECK(home.asked.empty());
    home.watch.on_states(0, {0, {waits(0, 1), waits(1, 0)}});
    CHECK(home.found.size() == 1);
    home.watch.on_states(0, {0, {waits(0, 1), waits(1, 0), waits(2, 0)}});
    CHECK(home.found == Found{{0, 1}, {0, 1, 2}});
    home.watch.on_states(0, {0, {waits(0, 1)}});
    CHECK(home.found.size() == 2);
}

TEST_CASE("a circle over three nodes", "[deadlock_watch]") {
    Home home(3, 3);
    home.watch.on_states(1, {0, {waits(1, 2)}});
    REQUIRE(home.asked.size() == 2);
    CHECK(home.asked[0].first == 0);
    CHECK(home.asked[1].first == 2);
    const std::uint32_t round = home.asked[0].second;
    CHECK(round != 0);
    home.watch.on_states(0, {round, {waits(0, 1)}});
    CHECK(home.found.empty());
    home.watch.on_states(2, {round, {waits(2, 0)}});
    CHECK(home.found == Found{{0, 1, 2}});
}

TEST_CASE("a node whose tasks go on", "[deadlock_watch]") {
    Home home(3, 2);
    home.watch.on_states(0, {0, {waits(0, 2)}});
    home.watch.on_states(1, {home.asked.back().second, {}});
    CHECK(home.found.empty());
    // Later its task has ended.
    home.watch.on_states(0, {0, {waits(0, 2)}});
    home.watch.on_states(1, {home.asked.back().second, {ended(2)}});
    CHECK(home.found == Found{{0}});
}

TEST_CASE("a node whose daemon is gone with its tasks", "[deadlock_watch]") {
    Home home(4, 3);
    home.watch.on_exit(0);
    home.watch.on_exit(0);
    home.watch.on_exit(-1);
    home.watch.on_exit(4);
    home.watch.on_states(1, {0, {waits(1, 0)}});
    REQUIRE(home.asked.size() == 1);
    CHECK(home.asked[0].first == 2);
    CHECK(home.found.empty());
    home.watch.on_exit(2);
    CHECK(home.found.empty());
    // The last of its node, which has not answered.
    home.watch.on_exit(3);
    CHECK(home.found == Found{{1}});
}

TEST_CASE("answers to an earlier question do not count", "[deadlock_watch]") {
    Home home(2, 2);
    home.watch.on_states(0, {0, {waits(0, 1)}});
    const std::uint32_t first = home.asked.back().second;
    home.watch.on_states(0, {0, {}});
    home.watch.on_states(1, {first, {waits(1, 0)}});
    CHECK(home.found.empty());
    home.watch.on_states(1, {home.asked.back().second, {waits(1, 0)}});
    CHECK(home.found.empty());
}

TEST_CASE("what no daemon should say", "[deadlock_watch]") {
    Home home(2, 2);
    home.watch.on_states(7, {0, {waits(0, 1)}});
    home.watch.on_states(-1, {0, {waits(0, 1)}});
    home.watch.on_states(0, {99, {waits(0, 1)}});
    CHECK(home.asked.empty());
    home.watch.on_states(0, {0, {waits(-5, 1), waits(2000000, 1), waits(0, 2000000)}});
    home.watch.on_states(1, {home.asked.back().second, {waits(1, -7)}});
    CHECK(home.found.empty());
}
