// The reservation of nodes: who may use a node beside whom, and that nothing is left behind.
#include "partition_manager/status/node_use.hpp"

#include <filesystem>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "partition_manager/job/task_map.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe;
using namespace poe::pm;
using namespace poe::pm::test;

namespace {

constexpr NodeReservation kShared{};
constexpr NodeReservation kUnique{true, false};
constexpr NodeReservation kDedicated{false, true};

bool is_empty(const std::string& directory) {
    return std::filesystem::is_empty(directory);
}

}  // namespace

TEST_CASE("shared jobs share, a reservation excludes others", "[node_use]") {
    const TempDirectory parent;
    const auto take = [&](NodeUse& use, const NodeReservation& wanted) {
        return use.take(parent.path(), "host", wanted);
    };
    CHECK(node_use_text(parent.path(), "host") == "free");
    {
        NodeUse one;
        NodeUse two;
        CHECK(take(one, kShared) == "");
        CHECK(take(two, kShared) == "");
        CHECK(node_use_text(parent.path(), "host") == "processors shared, adapter shared");
        NodeUse three;
        CHECK(take(three, kUnique) == "its processors cannot be reserved: used by other jobs");
        NodeUse four;
        CHECK(take(four, kDedicated) == "its adapter cannot be reserved: used by other jobs");
    }
    CHECK(is_empty(parent.path()));
    {
        NodeUse owner;
        CHECK(take(owner, kUnique) == "");
        const std::string name = "a job of user " + std::to_string(::getuid()) + " (pmd " +
                                 std::to_string(::getpid()) + ")";
        CHECK(node_use_text(parent.path(), "host") ==
              "processors reserved by " + name + ", adapter shared");
        NodeUse other;
        CHECK(take(other, kShared) == "its processors cannot be used: reserved by " + name);
        NodeUse elsewhere;
        CHECK(elsewhere.take(parent.path(), "other-host", kUnique) == "");
    }
    CHECK(is_empty(parent.path()));
    NodeUse after;
    CHECK(take(after, kDedicated) == "");
}

TEST_CASE("a killed job leaves no reservation, and what it leaves is removed", "[node_use]") {
    const TempDirectory parent;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        NodeUse use;
        const char ok = use.take(parent.path(), "host", kUnique).empty() ? 'y' : 'n';
        static_cast<void>(::write(ready[1], &ok, 1) == 1);
        ::pause();
        ::_exit(0);
    }
    char ok = 'n';
    REQUIRE(::read(ready[0], &ok, 1) == 1);
    CHECK(ok == 'y');
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(!is_empty(parent.path()));
    CHECK(node_use_text(parent.path(), "host") == "free");
    {
        NodeUse use;
        CHECK(use.take(parent.path(), "host", kShared) == "");
        remove_unused_reservations(parent.path(), "host");
        CHECK(node_use_text(parent.path(), "host") == "processors shared, adapter shared");
    }
    CHECK(is_empty(parent.path()));
    ::close(ready[0]);
    ::close(ready[1]);
}

// Jobs that start and end at the same time neither refuse each other nor leave files.
TEST_CASE("shared jobs that start and end together", "[node_use]") {
    const TempDirectory parent;
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            int refused = 0;
            for (int j = 0; j < 2000; ++j) {
                NodeUse use;
                refused += use.take(parent.path(), "host", kShared).empty() ? 0 : 1;
            }
            ::_exit(refused == 0 ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    CHECK(is_empty(parent.path()));
}

// Two jobs never hold a reservation at the same time.
TEST_CASE("a reservation is exclusive whatever the order", "[node_use]") {
    const TempDirectory parent;
    const std::string held = parent.path() + "/held";
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            int wrong = 0;
            for (int j = 0; j < 2000; ++j) {
                NodeUse use;
                if (!use.take(parent.path(), "host", kUnique).empty()) continue;
                wrong += ::mkdir(held.c_str(), 0700) == 0 ? 0 : 1;
                ::rmdir(held.c_str());
            }
            ::_exit(wrong == 0 ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    CHECK(is_empty(parent.path()));
}

TEST_CASE("what a host file says of a node, and what the flags say of the others", "[node_use]") {
    const auto file = parse_host_file("a unique\nb\na\nc dedicated multiple\n", "hosts");
    REQUIRE(file);
    TaskMap map{{"a", "b", "c"}, {0, 1, 0, 2}};
    const auto reserved = reservations_of(map, file.value(), {});
    REQUIRE(reserved.size() == 3);
    CHECK(reserved[0] == kUnique);
    CHECK(reserved[1] == kShared);
    CHECK(reserved[2] == kDedicated);
    const auto usual = reservations_of(map, file.value(), kUnique);
    CHECK(usual[1] == kUnique);
    CHECK(usual[2] == kDedicated);
    CHECK(reservations_of(map, std::nullopt, kShared).empty());
    CHECK(reservations_of(map, std::nullopt, kDedicated).size() == 3);
}
