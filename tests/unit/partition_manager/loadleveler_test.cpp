// LoadLeveler's variables become nodes of tasks.
#include "partition_manager/job/loadleveler.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

namespace {

Result<std::optional<LoadLevelerAllocation>> read(const Variables& variables) {
    return loadleveler_allocation([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

Words map_of(const Variables& variables, const NodeRequest& request) {
    const auto allocation = read(variables);
    REQUIRE(allocation.ok());
    REQUIRE(allocation.value());
    const auto nodes = nodes_of_tasks(*allocation.value(), request);
    REQUIRE(nodes.ok());
    return nodes.value();
}

}  // namespace

TEST_CASE("no variables, no allocation", "[loadleveler]") {
    CHECK_FALSE(read({}).value());
    CHECK_FALSE(read({{"LOADL_PROCESSOR_LIST", " "}, {"LOADL_TOTAL_TASKS", "4"}}).value());
}

TEST_CASE("the processor list names the node of each task", "[loadleveler]") {
    const Variables list{{"LOADL_PROCESSOR_LIST", "a a  b.site c "}};
    CHECK(map_of(list, {4, 0, 0}) == Words{"a", "a", "b.site", "c"});
    CHECK(map_of(list, {2, 0, 0}) == Words{"a", "a"});
    CHECK(map_of(list, {6, 0, 0}) == Words{"a", "a", "b.site", "b.site", "c", "c"});
    CHECK(map_of(list, {4, 2, 0}) == Words{"a", "a", "b.site", "b.site"});
    CHECK(read({{"LOADL_PROCESSOR_LIST", "a b"}, {"LOADL_TOTAL_TASKS", "8"}}).value()->tasks == 8);
}

TEST_CASE("a host file takes precedence", "[loadleveler]") {
    char path[] = "/tmp/loadl-XXXXXX";
    const int fd = ::mkstemp(path);
    REQUIRE(fd >= 0);
    ::close(fd);
    std::ofstream(path) << "x\ny\n";
    CHECK(map_of({{"LOADL_HOSTFILE", path}, {"LOADL_PROCESSOR_LIST", "a b"}}, {2, 0, 0}) ==
          Words{"x", "y"});
    std::ofstream(path, std::ios::trunc);
    CHECK(read({{"LOADL_HOSTFILE", path}}).error().str() ==
          "LOADL_HOSTFILE: it names no node; expected a node for each task, or unset it");
    ::unlink(path);
    CHECK(read({{"LOADL_HOSTFILE", path}}).error().str().find("LOADL_HOSTFILE names this file") !=
          std::string::npos);
}

TEST_CASE("what cannot be is refused", "[loadleveler]") {
    CHECK(read({{"LOADL_PROCESSOR_LIST", "a -b"}}).error().source == "LOADL_PROCESSOR_LIST");
    CHECK(read({{"LOADL_PROCESSOR_LIST", "a"}, {"LOADL_TOTAL_TASKS", "many"}}).error().str() ==
          "LOADL_TOTAL_TASKS: \"many\" is not allowed; expected a number of tasks");
}
