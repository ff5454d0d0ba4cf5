// What this computer is called. Only names that every Linux has, and none that asks a network.
#include "partition_manager/local_names.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include <catch2/catch.hpp>

using namespace poe::pm;

TEST_CASE("this node knows its names", "[local_names]") {
    const std::string name = local_host_name();
    CHECK_FALSE(name.empty());
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const IsThisNode is_this_node = local_name_test();
    CHECK(is_this_node(name));
    CHECK(is_this_node(upper));
    CHECK(is_this_node(name.substr(0, name.find('.'))));
    CHECK(is_this_node("localhost"));
    CHECK(is_this_node("LocalHost"));
    CHECK(is_this_node("127.0.0.1"));
    CHECK(is_this_node("127.1.2.3"));
    CHECK(is_this_node("::1"));
}

TEST_CASE("addresses of others are not this node", "[local_names]") {
    const IsThisNode is_this_node = local_name_test();
    CHECK_FALSE(is_this_node("192.0.2.1"));    // set apart for documentation
    CHECK_FALSE(is_this_node("2001:db8::1"));  // likewise
    CHECK_FALSE(is_this_node(""));
}
