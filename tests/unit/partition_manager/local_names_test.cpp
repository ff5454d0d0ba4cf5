// What this computer is called. Only names that every Linux has, and none that asks a network.
#include "partition_manager/job/local_names.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "partition_manager/job/home_address.hpp"
#include "partition_manager/job/name_service.hpp"

using namespace poe::pm;

TEST_CASE("this node knows its names", "[local_names]") {
    const std::string name = local_host_name();
    CHECK_FALSE(name.empty());
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::vector<std::string> names = {
        name,        upper, name.substr(0, name.find('.')), "localhost", "LocalHost", "127.0.0.1",
        "127.1.2.3", "::1"};
    CHECK(find_this_node(names) == std::vector<bool>(names.size(), true));
}

TEST_CASE("addresses of others are not this node", "[local_names]") {
    // Addresses that are set apart for documentation, and what is no name at all.
    const std::vector<std::string> names = {"192.0.2.1", "2001:db8::1", "", "no such name", "-h"};
    CHECK(find_this_node(names) == std::vector<bool>(names.size(), false));
}

TEST_CASE("several names are told apart, known or not", "[local_names]") {
    const std::vector<std::string> names = {"localhost", "no.such.name.invalid", "192.0.2.1",
                                            "localhost", "255.255.255.255"};
    const auto found = addresses_of(names);
    REQUIRE(found.size() == names.size());
    REQUIRE_FALSE(found[0].empty());
    CHECK(is_loopback(found[0].front()));
    CHECK(found[1].empty());
    REQUIRE(found[2].size() == 1);
    CHECK(found[2].front().text() == "192.0.2.1");
    REQUIRE_FALSE(found[3].empty());
    CHECK(is_same_host(found[3].front(), found[0].front()));
    CHECK(found[4].size() == 1);
}

TEST_CASE("the address from which this node would speak to another", "[local_names]") {
    CHECK(address_towards("127.0.0.1") == "127.0.0.1");
    const auto own = parse_address(address_towards("localhost"));
    REQUIRE(own);
    CHECK(is_loopback(*own));
    CHECK(address_towards("no.such.name.invalid").empty());
    CHECK(address_towards("").empty());
}

TEST_CASE("addresses with an interface", "[local_names]") {
    const auto by_name = parse_address("fe80::1%lo");
    REQUIRE(by_name);
    CHECK(by_name->scope > 0);
    CHECK(parse_address("fe80::1%" + std::to_string(by_name->scope)) == by_name);
    const auto without = parse_address("fe80::1");
    REQUIRE(without);
    CHECK(is_same_host(*without, *by_name));
    CHECK_FALSE(is_same_host(*without, *parse_address("fe80::2")));
    CHECK_FALSE(is_loopback(*by_name));
    CHECK_FALSE(parse_address("fe80::1%nosuchinterface"));
    CHECK_FALSE(parse_address("n1"));
}
