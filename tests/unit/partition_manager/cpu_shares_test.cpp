// Shares of processors: for made-up machines, and for this one.
#include "partition_manager/daemon/cpu_shares.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

std::string text_of(const std::vector<cpu_set_t>& shares) {
    std::string text;
    for (const cpu_set_t& share : shares) {
        if (!text.empty()) text += " | ";
        std::string cpus;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &share)) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
        }
        text += cpus;
    }
    return text;
}

}  // namespace

TEST_CASE("shares of processors", "[cpu_shares]") {
    const std::vector<Core> two{{0}, {1}};
    const std::vector<Core> four_of_two{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const std::vector<Core> odd{{3}, {5, 9}, {70}};
    struct Case {
        const std::vector<Core>& cores;
        std::size_t tasks;
        std::string shares;
    };
    const Case cases[] = {
        {two, 1, "0,1"},
        {two, 2, "0 | 1"},
        {two, 3, ""},
        {four_of_two, 2, "0,1,4,5 | 2,3,6,7"},
        {four_of_two, 3, "0,4 | 1,5 | 2,3,6,7"},
        {four_of_two, 4, "0,4 | 1,5 | 2,6 | 3,7"},
        {four_of_two, 5, "0 | 1,4 | 5 | 2,6 | 3,7"},
        {four_of_two, 8, "0 | 4 | 1 | 5 | 2 | 6 | 3 | 7"},
        {four_of_two, 9, ""},
        {odd, 2, "3 | 5,9,70"},
        {odd, 4, "3 | 5 | 9 | 70"},
        {{}, 1, ""},
    };
    for (const Case& one : cases) {
        INFO(one.tasks << " tasks on " << one.cores.size() << " cores");
        CHECK(text_of(cpu_shares(one.cores, one.tasks)) == one.shares);
    }
}

TEST_CASE("shares for tasks with threads", "[cpu_shares]") {
    const std::vector<Core> two{{0}, {1}};
    const std::vector<Core> four_of_two{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const std::vector<Core> uneven{{3}, {5, 9}, {70}};
    struct Case {
        const std::vector<Core>& cores;
        std::size_t tasks;
        std::size_t threads;
        std::string shares;
    };
    const Case cases[] = {
        {two, 1, 1, "0"},
        {two, 1, 2, "0,1"},
        {two, 2, 1, "0 | 1"},
        {two, 2, 2, ""},
        {two, 1, 3, ""},
        {four_of_two, 1, 2, "0,1,4,5"},
        {four_of_two, 2, 2, "0,1,4,5 | 2,3,6,7"},
        {four_of_two, 1, 4, "0,1,2,3,4,5,6,7"},
        // More threads than cores: each gets a processor.
        {four_of_two, 2, 3, "0,1,4 | 2,5,6"},
        {four_of_two, 4, 2, "0,4 | 1,5 | 2,6 | 3,7"},
        {four_of_two, 3, 3, ""},
        {uneven, 1, 3, "3,5,9,70"},
        {uneven, 2, 2, "3,5 | 9,70"},
        {{}, 1, 1, ""},
    };
    for (const Case& one : cases) {
        INFO(one.tasks << " tasks with " << one.threads << " threads on " << one.cores.size()
                       << " cores");
        CHECK(text_of(thread_shares(one.cores, one.tasks, one.threads)) == one.shares);
    }
}

TEST_CASE("the processors of this machine", "[cpu_shares]") {
    cpu_set_t allowed;
    REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    std::set<int> seen;
    for (const Core& core : usable_cores()) {
        CHECK_FALSE(core.empty());
        for (const int cpu : core) {
            CHECK(CPU_ISSET(cpu, &allowed));
            CHECK(seen.insert(cpu).second);
        }
    }
    CHECK(seen.size() == static_cast<std::size_t>(CPU_COUNT(&allowed)));
}
