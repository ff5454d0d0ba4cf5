// Parts of several nodes, put together.
#include "partition_manager/launch/exchange_table.hpp"

#include <catch2/catch.hpp>

using namespace poe::pm;

TEST_CASE("an exchange is over when all who take part have given", "[exchange_table]") {
    ExchangeTable table;
    CHECK_FALSE(table.add({"a", 4, 1, "1", {}}));
    CHECK_FALSE(table.add({"b", 2, 1, "x", {}}));
    CHECK_FALSE(table.add({"a", 4, 2, "23", {}}));
    const auto b = table.add({"b", 2, 1, "y", {}});
    REQUIRE(b);
    CHECK(b->data == "xy");
    const auto a = table.add({"a", 4, 1, "4", {}});
    REQUIRE(a);
    CHECK(a->key == "a");
    CHECK(a->nodes == 4);
    CHECK(a->data == "1234");
    CHECK_FALSE(table.add({"a", 4, 3, "again", {}}));  // begins anew
    CHECK(table.add({"a", 4, 1, "", {}})->data == "again");
}

TEST_CASE("a relay counts parts, whatever they speak for", "[exchange_table]") {
    ExchangeTable table;
    CHECK_FALSE(table.add_of({"a", 9, 1, "1", {}}, 3));
    CHECK_FALSE(table.add_of({"a", 9, 3, "234", {}}, 3));
    const auto sum = table.add_of({"a", 9, 1, "5", {}}, 3);
    REQUIRE(sum);
    CHECK(sum->nodes == 5);
    CHECK(sum->of == 9);
    CHECK(sum->data == "12345");
}
