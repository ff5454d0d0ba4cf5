// Lines for a terminal.
#include "base/fold.hpp"

#include <catch2/catch.hpp>

using poe::append_folded;
using poe::fold;

namespace {

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 2) {
    std::string out;
    append_folded(out, text, 0, indent, columns);
    return out;
}

}  // namespace

TEST_CASE("lines are broken between words", "[fold]") {
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

TEST_CASE("the lines of a text are folded one by one", "[fold]") {
    CHECK(fold("one two three", 8) == "one two\nthree");
    CHECK(fold("  -x     what it is for\n", 16) == "  -x     what it\n         is for\n");
    CHECK(fold("averyveryverylongword short", 5) == "averyveryverylongword\nshort");
    CHECK(fold("as it is", 0) == "as it is");
    CHECK(fold("one\n\ntwo three\n", 5) == "one\n\ntwo\nthree\n");
}
