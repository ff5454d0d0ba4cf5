// Cores that simulated ranks have in turn, against going round one by one.
#include "collectives/mpsim/shared_cores.hpp"

#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::collectives;

namespace {

// What a rank does in its turn, and when it has something to do again.
struct Task {
    double busy = 0;
    double rest = 0;
};

struct Had {
    std::uint32_t rank = 0;
    double time = 0;
    bool operator==(const Had&) const = default;
};

// One core, looking at one rank after the other. Whoever has done all its tasks is never ready.
std::vector<Had> going_round(const std::vector<std::vector<Task>>& tasks, double turn) {
    std::vector<Had> turns;
    std::vector<double> ready(tasks.size());
    std::vector<std::size_t> done(tasks.size());
    std::size_t left = 0;
    for (const auto& each : tasks) left += each.size();
    double time = tasks.size() > 1 ? -turn : 0;
    for (std::uint32_t rank = 0; left > 0; rank = (rank + 1) % tasks.size()) {
        if (tasks.size() > 1) time += turn;
        if (tasks.size() == 1) time = std::max(time, ready[0]);
        if (done[rank] == tasks[rank].size() || ready[rank] > time) continue;
        turns.push_back({rank, time});
        const Task& task = tasks[rank][done[rank]++];
        time += task.busy;
        ready[rank] = time + task.rest;
        --left;
    }
    return turns;
}

}  // namespace

TEST_CASE("a core goes round its ranks") {
    std::mt19937 random(1);
    const auto any = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::vector<Task>> tasks(1 + any(8));
        for (auto& each : tasks) {
            each.resize(any(5));
            for (Task& task : each) task = {double(any(6)), any(2) == 0 ? double(any(60)) : 0};
        }
        const double turn = 1 + any(3);
        std::vector<Had> turns;
        SharedCores cores(static_cast<std::uint32_t>(tasks.size()), {}, 1, turn);
        for (std::uint32_t rank = 0; rank < tasks.size(); ++rank) {
            if (!tasks[rank].empty()) cores.ready(rank, 0);
        }
        std::vector<std::size_t> done(tasks.size());
        while (const auto next = cores.next()) {
            turns.push_back({next->rank, next->time});
            const Task& task = tasks[next->rank][done[next->rank]++];
            const double end = next->time + task.busy;
            // Now and then in two steps.
            if (any(1) == 0) {
                cores.keep(next->rank, end);
                REQUIRE(cores.earliest() == end);
                const auto again = cores.next();
                REQUIRE((again && again->rank == next->rank && again->time == end));
            }
            if (done[next->rank] < tasks[next->rank].size())
                cores.ready(next->rank, end + task.rest);
            cores.hand_on(next->rank, end);
        }
        REQUIRE(turns == going_round(tasks, turn));
    }
}

TEST_CASE("ranks are on the cores of their node in turn") {
    // Ranks 0, 2 and 4 on node 0, with rank 2 on its second core; 1 and 3 on node 1.
    SharedCores cores(5, {0, 1, 0, 1, 0}, 2, 1);
    for (std::uint32_t rank = 0; rank < 5; ++rank) cores.ready(rank, 0);
    for (const std::uint32_t expected : {0u, 2u, 1u, 3u}) {
        const auto next = cores.next();
        REQUIRE(next);
        CHECK(next->rank == expected);
        CHECK(next->time == 0);
    }
    CHECK(!cores.next());
    cores.hand_on(0, 5);
    CHECK(cores.earliest() == 6);
    CHECK(cores.next()->rank == 4);
    // For one alone there are no turns.
    cores.ready(3, 7.5);
    cores.hand_on(3, 7);
    CHECK(cores.earliest() == 7.5);
}

TEST_CASE("who is ready while a core goes round has the next turn that comes") {
    SharedCores cores(4, {}, 1, 2);
    cores.ready(0, 0);
    REQUIRE(cores.next()->rank == 0);
    cores.hand_on(0, 1);  // rank 1 at 3, rank 2 at 5, rank 3 at 7, rank 0 at 9
    CHECK(!cores.next());
    cores.ready(1, 4);  // just missed: at 11
    CHECK(cores.earliest() == 11);
    cores.ready(3, 7);
    CHECK(cores.earliest() == 7);
    CHECK(cores.next()->rank == 3);
    cores.hand_on(3, 7);
    CHECK(cores.earliest() == 11);
    CHECK(cores.next()->rank == 1);
}
