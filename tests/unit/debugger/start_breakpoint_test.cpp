// Breakpoints at main programs: what gdb is told, and what its answers mean.
#include "debugger/start_breakpoint.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

TEST_CASE("an internal breakpoint has the inferiors that gdb prints") {
    const auto made = internal_breakpoint_of(
        "Function \"x\" not defined.\nstart breakpoint -12 1 3 64\nsomething else\n");
    REQUIRE(made);
    CHECK(made->number == -12);
    CHECK(made->is_in("i64"));
    CHECK_FALSE(made->is_in("i2"));
    CHECK(internal_breakpoint_command("main", 5).find("poe_made.thread = 5") != std::string::npos);
}

TEST_CASE("a function that no inferior has gives no breakpoint") {
    CHECK_FALSE(internal_breakpoint_of("start breakpoint -12\n"));
    CHECK_FALSE(internal_breakpoint_of("Function \"MAIN__\" not defined.\n"));
    CHECK_FALSE(internal_breakpoint_of(""));
    CHECK_FALSE(ordinary_breakpoint_of({}));
}

TEST_CASE("an ordinary breakpoint has the inferiors of all its locations") {
    const auto one = ordinary_breakpoint_of(
        parse_mi("^done,bkpt={number=\"2\",thread-groups=[\"i4\"]}").results);
    REQUIRE(one);
    CHECK(one->groups == std::vector<std::string>{"i4"});
    CHECK(delete_command(*one) == "-break-delete 2");
    const auto several = ordinary_breakpoint_of(
        parse_mi("^done,bkpt={number=\"3\",locations=[{thread-groups=[\"i1\"]},{thread-groups=["
                 "\"i2\"]}]}")
            .results);
    REQUIRE(several);
    CHECK(several->groups == std::vector<std::string>{"i1", "i2"});
    CHECK(ordinary_breakpoint_command("main", 0) == "-break-insert --qualified main");
    CHECK(ordinary_breakpoint_command("main", 7) == "-break-insert --qualified -p 7 main");
}

}  // namespace poe::debugger
