// Arrays that are indexed by task or node.
#include "base/per_task.hpp"

#include <string>

#include <catch2/catch.hpp>

using poe::PerNode;
using poe::PerTask;

TEST_CASE("A PerTask has an element for each task id") {
    PerTask<std::string> names(3, "?");
    names[2] = "last";
    CHECK(names.size() == 3);
    CHECK(names[0] == "?");
    CHECK(names[2] == "last");
    CHECK(names.has(0));
    CHECK(names.has(2));
    CHECK_FALSE(names.has(-1));
    CHECK_FALSE(names.has(3));
    CHECK(std::string(*names.begin()) == "?");
}

TEST_CASE("Elements of type bool can be changed through the index") {
    PerNode<bool> heard(2, false);
    heard[1] = true;
    CHECK_FALSE(heard[0]);
    CHECK(heard[1]);
    heard.fill(false);
    CHECK_FALSE(heard[1]);
}

TEST_CASE("An empty PerTask has no ids") {
    const PerTask<int> none;
    CHECK(none.size() == 0);
    CHECK_FALSE(none.has(0));
}
