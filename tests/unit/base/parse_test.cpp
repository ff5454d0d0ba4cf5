// Numbers in text.
#include "base/parse.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("a text that is a number, and nothing else") {
    CHECK(parse_number<int>("0") == 0);
    CHECK(parse_number<int>("-17") == -17);
    CHECK(parse_number<int>("010") == 10);
    CHECK(parse_number<double>("2.5e3") == 2500);
    for (const char* text : {"", " ", "1 ", " 1", "+1", "1x", "x", "0x10", "--1", "1.5", "\t3"})
        CHECK_FALSE(parse_number<int>(text));
    CHECK_FALSE(parse_number<unsigned>("-1"));
    for (const char* text : {"inf", "nan", "-inf", "1e999", "1.0.0", "1e"})
        CHECK_FALSE(parse_number<double>(text));
}

TEST_CASE("a number that does not fit is none") {
    const std::string largest = std::to_string(std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_number<std::uint64_t>(largest) == std::numeric_limits<std::uint64_t>::max());
    CHECK_FALSE(parse_number<std::uint64_t>(largest + "0"));
    CHECK_FALSE(parse_number<std::uint8_t>("256"));
    CHECK(parse_number<std::int8_t>("-128") == -128);
    CHECK_FALSE(parse_number<std::int8_t>("-129"));
}

TEST_CASE("a number that is taken from the beginning leaves the rest") {
    std::string_view text = "12k";
    CHECK(take_number<int>(text) == 12);
    CHECK(text == "k");
    CHECK_FALSE(take_number<int>(text));
    CHECK(text == "k");
}
