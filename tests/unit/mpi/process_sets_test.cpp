// Process sets, as a task reads them from its environment.
#include "mpi/process/process_sets.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::mpi;

TEST_CASE("the sets of the standard come first", "[psets]") {
    const auto sets = parse_process_sets("", 2, 3);
    REQUIRE(sets.size() == 2);
    CHECK(sets[0].name == "mpi://WORLD");
    CHECK(sets[0].tasks == std::vector<TaskId>{0, 1, 2});
    CHECK(sets[1].name == "mpi://SELF");
    CHECK(sets[1].tasks == std::vector<TaskId>{2});
}

TEST_CASE("ranges of tasks are read", "[psets]") {
    const auto sets = parse_process_sets("poe://node/n0=0-2,5 x=4", 0, 6);
    REQUIRE(sets.size() == 4);
    CHECK(sets[2].tasks == std::vector<TaskId>{0, 1, 2, 5});
    REQUIRE(find_process_set(sets, "x") == &sets[3]);
    CHECK(find_process_set(sets, "y") == nullptr);
    CHECK(find_process_set(sets, "X") == nullptr);
    CHECK(find_process_set(sets, "mpi://self") == &sets[1]);
    CHECK(find_process_set(sets, "MPI://World") == &sets[0]);
    CHECK(find_process_set(sets, "mpi://") == nullptr);
}

TEST_CASE("an entry of another form is left out", "[psets]") {
    for (const char* text : {"x", "x=", "=1", "x=a", "x=6", "x=-1", "x=1-6", "x=1,,", "x=1-2-3",
                             "mpi://WORLD=1", "x=99999999999999"}) {
        CAPTURE(text);
        CHECK(parse_process_sets(text, 0, 6).size() == 2);
        CHECK(parse_process_sets(std::string(text) + " good=1", 0, 6).size() == 3);
    }
}
