// Lines for a terminal.
#include "poe/wrap.hpp"

#include <catch2/catch.hpp>

using poe::cli::append_wrapped;

namespace {

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 2) {
    std::string out;
    append_wrapped(out, text, 0, indent, columns);
    return out;
}

}  // namespace

TEST_CASE("lines are broken between words", "[wrap]") {
    CHECK(wrapped("one two three", 80) == "one two three");
    CHECK(wrapped("one two three", 7) == "one two\n  three");
    CHECK(wrapped("one two three", 6) == "one\n  two\n  three");
    CHECK(wrapped("one two three", 0) == "one two three");
    CHECK(wrapped("averylongword and more", 6) == "averylongword\n  and\n  more");
    CHECK(wrapped("ERROR: 1  two blanks", 80) == "ERROR: 1  two blanks");
    CHECK(wrapped("a\x01"
                  "b c",
                  3, 0) == "a b\nc");
    // Characters count, not bytes.
    CHECK(wrapped("\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4", 5) == "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4");
    CHECK(wrapped("", 10).empty());
}
