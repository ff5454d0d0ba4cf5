// Which cores are left to a second job.
#include "partition_manager/daemon/busy_processors.hpp"

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

cpu_set_t set_of(std::initializer_list<int> cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(cpu, &set);
    return set;
}

}  // namespace

TEST_CASE("cores with a busy processor are not free", "[busy_processors]") {
    const std::vector<Core> cores{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    CHECK(free_cores(cores, set_of({})) == cores);
    CHECK(free_cores(cores, set_of({4})) == std::vector<Core>{{1, 5}, {2, 6}, {3, 7}});
    CHECK(free_cores(cores, set_of({0, 5, 2, 7})).empty());
}

TEST_CASE("processors in words", "[busy_processors]") {
    CHECK(processors_in_words(set_of({})).empty());
    CHECK(processors_in_words(set_of({3})) == "3");
    CHECK(processors_in_words(set_of({0, 1, 2, 3, 8, 10, 11})) == "0-3,8,10-11");
    CHECK(processors_in_words(set_of({CPU_SETSIZE - 1})) == std::to_string(CPU_SETSIZE - 1));
}

TEST_CASE("without other jobs nothing is busy; one job at a time looks", "[busy_processors]") {
    char name[] = "/tmp/poe-busy-XXXXXX";
    const std::string parent = ::mkdtemp(name);
    std::filesystem::create_directory(parent + "/poe-0-own-1-0");
    const cpu_set_t all = set_of({0, 1, 2, 3});
    const cpu_set_t busy = busy_processors(parent, "own-1-0", all);
    CHECK(CPU_COUNT(&busy) == 0);
    const poe::UniqueFd first = lock_processors(parent);
    CHECK(first);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(lock_processors(parent) ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);  // it has waited in vain
    std::filesystem::remove_all(parent);
}
