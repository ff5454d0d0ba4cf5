// The values of messages: what is added to a tree comes out of its CBOR again; anything else
// throws.
#include "partition_manager/channel/cbor_values.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

namespace poe::pm::cbor {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kMostUnsigned = std::numeric_limits<std::uint64_t>::max();

// A tree of the same value, by way of its bytes.
Tree again(const Tree& tree) {
    return Tree(tree.cbor());
}

Tree one_signed(std::int64_t value) {
    Tree tree;
    add_signed(tree.to_fill(), value);
    return again(tree);
}

Tree one_unsigned(std::uint64_t value) {
    Tree tree;
    add_unsigned(tree.to_fill(), value);
    return again(tree);
}

TEST_CASE("whole numbers of 64 bits keep their value") {
    for (const std::int64_t value : {kLeast, std::int64_t{-1}, std::int64_t{0}, kMost})
        CHECK(to_signed(one_signed(value).value(), kLeast, kMost) == value);
    for (const std::uint64_t value : {std::uint64_t{0}, kMostUnsigned})
        CHECK(to_unsigned(one_unsigned(value).value(), kMostUnsigned) == value);
}

TEST_CASE("a number out of range is refused") {
    CHECK_THROWS_AS(to_signed(one_signed(5).value(), 0, 4), std::exception);
    CHECK_THROWS_AS(to_signed(one_signed(-1).value(), 0, 4), std::exception);
    CHECK_THROWS_AS(to_signed(one_unsigned(kMostUnsigned).value(), kLeast, kMost), std::exception);
    CHECK_THROWS_AS(to_unsigned(one_signed(-1).value(), kMostUnsigned), std::exception);
    CHECK_THROWS_AS(to_unsigned(one_unsigned(256).value(), 255), std::exception);
}

TEST_CASE("lists, bytes, bool and null keep their place") {
    Tree tree;
    Value& list = add_list(tree.to_fill());
    add_bool(list, true);
    add_null(list);
    add_signed(add_list(list), 7);
    add_bytes(list, "\0\xff", 2);
    const Tree copy = again(tree);
    REQUIRE(list_size(copy.value()) == 4);
    CHECK(to_bool(element(copy.value(), 0)));
    CHECK(is_null(element(copy.value(), 1)));
    CHECK(to_signed(element(element(copy.value(), 2), 0), 0, 7) == 7);
    CHECK(to_bytes(element(copy.value(), 3)) == std::string("\0\xff", 2));
    CHECK_THROWS_AS(element(copy.value(), 4), std::exception);
}

TEST_CASE("a value of another kind is refused") {
    const Tree number = one_signed(1);
    CHECK_THROWS_AS(to_bool(number.value()), std::exception);
    CHECK_THROWS_AS(to_bytes(number.value()), std::exception);
    CHECK_THROWS_AS(list_size(number.value()), std::exception);
    CHECK_THROWS_AS(element(number.value(), 0), std::exception);
    CHECK_FALSE(is_null(number.value()));
}

TEST_CASE("bytes that are not CBOR are refused") {
    CHECK_THROWS_AS(Tree(std::string_view("\xff", 1)), std::exception);
    CHECK_THROWS_AS(Tree(std::string_view()), std::exception);
}

}  // namespace
}  // namespace poe::pm::cbor
