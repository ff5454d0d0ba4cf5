// Nearest words and safe quoting.
#include "base/suggest.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("edit distance", "[suggest]") {
    struct Case {
        const char* a;
        const char* b;
        std::size_t distance;
    };
    const Case cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "abc", 0},
        {"ABC", "abc", 0},
        {"abc", "abd", 1},
        {"abc", "ab", 1},
        {"abc", "abcd", 1},
        {"abc", "acb", 1},
        {"lableio", "labelio", 1},
        {"kitten", "sitting", 3},
        {"ca", "abc", 3},
    };
    for (const Case& one : cases) {
        INFO(one.a << " " << one.b);
        CHECK(edit_distance(one.a, one.b) == one.distance);
        CHECK(edit_distance(one.b, one.a) == one.distance);
    }
}

TEST_CASE("the nearest word", "[suggest]") {
    const std::vector<std::string_view> words = {"procs", "pulse", "printenv", "tracedir",
                                                 "tracefile"};
    CHECK(nearest("proc", words) == "procs");
    CHECK(nearest("porcs", words) == "procs");
    CHECK(nearest("PROCS", words) == "procs");
    CHECK(nearest("tracedri", words) == "tracedir");
    CHECK(nearest("print", words) == "printenv");  // the only one that goes on so
    CHECK(nearest("trace", words).empty());        // two do
    CHECK(nearest("banana", words).empty());
    CHECK(nearest("", words).empty());
    CHECK(nearest(std::string(100000, 'p'), words).empty());
    CHECK(nearest("x", {"y"}).empty());
}

TEST_CASE("words are the same in any letter case", "[suggest]") {
    CHECK(same_word("", ""));
    CHECK(same_word("NULL", "null"));
    CHECK_FALSE(same_word("nul", "null"));
    CHECK_FALSE(same_word("null", "nul"));
}

TEST_CASE("quoted text is safe to show", "[suggest]") {
    const std::pair<std::string, std::string> cases[] = {
        {"", "\"\""},
        {"abc", "\"abc\""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\x1b[1m\n", "\"\\x1b[1m\\x0a\""},
        {"\x7f\xff", "\"\\x7f\\xff\""},
        {"\xc3", "\"\\xc3\""},                    // cut short
        {"\xc0\x80", "\"\\xc0\\x80\""},           // overlong
        {"\xe0\x80\x80", "\"\\xe0\\x80\\x80\""},  // overlong
        {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""},  // surrogate
        {"\xc2\x9b", "\"\\xc2\\x9b\""},           // a control sequence in one character
        {"\xf4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\""},
        {std::string(80, 'a'), "\"" + std::string(80, 'a') + "\""},
        {std::string(81, 'a'), "\"" + std::string(80, 'a') + "...\""},
    };
    for (const auto& [text, shown] : cases) CHECK(in_quotes(text) == shown);
}

TEST_CASE("text without anything that a terminal obeys", "[suggest]") {
    CHECK(visible("plain \xc3\xa4\ttext") == "plain \xc3\xa4\ttext");
    CHECK(visible("\x1b[2J\r\n\x7f\xff") == "\\x1b[2J\\x0d\\x0a\\x7f\\xff");
    CHECK(visible(std::string(1000, 'a')).size() == 1000);
    CHECK(did_you_mean("compting", {"idle", "computing"}) == "; did you mean computing?");
    CHECK(did_you_mean("zzzzz", {"idle", "computing"}).empty());
}
