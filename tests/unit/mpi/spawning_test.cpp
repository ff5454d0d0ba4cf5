// The numbers of tasks that the info key soft allows, and the names of ports.
#include "mpi/communicator/spawning.hpp"

#include <catch2/catch.hpp>

#include "mpi/communicator/ports.hpp"

using namespace poe::mpi;

TEST_CASE("soft gives the largest number up to the limit") {
    CHECK(tasks_allowed("4", 4) == 4);
    CHECK(tasks_allowed("1:10", 4) == 4);
    CHECK(tasks_allowed("1:10:2", 4) == 3);
    CHECK(tasks_allowed("10:1:-3", 8) == 7);
    CHECK(tasks_allowed("2,3,9", 8) == 3);
    CHECK(tasks_allowed("0:2000000000", 5) == 5);
    CHECK(tasks_allowed("2000000000:0:-1999999999", 5) == 1);
    CHECK(tasks_allowed("9", 8) == -1);
    CHECK(tasks_allowed("5:2", 8) == -1);
    CHECK(tasks_allowed("", 8) == -1);
    CHECK(tasks_allowed("one", 8) == -1);
    CHECK(tasks_allowed("1:2:0", 8) == -1);
    CHECK(tasks_allowed("1:2:3:4", 8) == -1);
    CHECK(tasks_allowed("1,,2", 8) == -1);
}

TEST_CASE("the name of a port can be read back, and nothing else") {
    PortName port{"abc-1-0-s2", 3, *poe::NodeAddress::parse("2001:db8::5"), 4711, {}};
    port.key.fill(0xa7);
    const std::string text = text_of(port);
    CHECK(text.size() < 256);
    REQUIRE(parse_port_name(text).has_value());
    CHECK(*parse_port_name(text) == port);
    for (std::size_t length = 0; length < text.size(); ++length)
        CHECK_FALSE(parse_port_name(text.substr(0, length)).has_value());
    CHECK_FALSE(parse_port_name(text + "0").has_value());
    CHECK_FALSE(parse_port_name("poe-port/a/0/127.0.0.1/0/" + text.substr(text.rfind('/') + 1))
                    .has_value());
}
