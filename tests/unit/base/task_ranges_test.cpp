// Lists of tasks in words.
#include "base/task_ranges.hpp"

#include <numeric>

#include <catch2/catch.hpp>
#include <climits>

using namespace poe;

TEST_CASE("tasks are folded into ranges", "[task_ranges]") {
    CHECK(task_ranges({}).empty());
    CHECK(task_ranges({0}) == "0");
    CHECK(task_ranges({0, 1}) == "0,1");
    CHECK(task_ranges({0, 1, 2}) == "0-2");
    CHECK(task_ranges({0, 2, 4}) == "0,2,4");
    CHECK(task_ranges({2, 0, 1}) == "2,0,1");
    CHECK(task_ranges({0, 1, 2, 3, 5, 6, 8, 9, 10}) == "0-3,5,6,8-10");
    CHECK(task_ranges({INT_MAX - 2, INT_MAX - 1, INT_MAX}) == "2147483645-2147483647");
    std::vector<poe::TaskId> many(100000);
    std::iota(many.begin(), many.end(), 0);
    CHECK(task_ranges(many) == "0-99999");
}

TEST_CASE("one task and many in words", "[task_ranges]") {
    CHECK(tasks_in_words({3}) == "task 3");
    CHECK(tasks_in_words({3, 4}) == "tasks 3,4");
    CHECK(tasks_in_words({0, 1, 2, 5}) == "tasks 0-2,5");
}
