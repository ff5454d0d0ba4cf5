// What a display's terminal gets of a task's output.
#include "partition_manager/stdio/escape_filter.hpp"

#include <catch2/catch.hpp>

using poe::pm::EscapeFilter;

namespace {

std::string passed(std::string_view text, std::size_t piece) {
    EscapeFilter filter;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += piece)
        filter.pass(text.substr(at, piece), out);
    return out;
}

}  // namespace

TEST_CASE("text and colours pass, all else that a terminal obeys does not", "[escape_filter]") {
    struct Case {
        const char* text;
        const char* shown;
    };
    const Case cases[] = {
        {"plain \xc3\xa4 text\n\ttab\rcr\bbs", "plain \xc3\xa4 text\n\ttab\rcr\bbs"},
        {"\x1b[31mred\x1b[0m \x1b[38;5;7m\x1b[38:2:1:2:3mx\x1b[m",
         "\x1b[31mred\x1b[0m \x1b[38;5;7m\x1b[38:2:1:2:3mx\x1b[m"},
        {"a\x1b[2J\x1b[Hb\x1b[1;5rc\x1b[?1049hd", "abcd"},
        {"a\x1b"
         "cb\x1b"
         "7c\x1b(0d\x1b#8e",
         "abcde"},
        {"a\x1b]0;title\ab\x1b]2;x\x1b\\c\x1bPq...\x1b\\d", "abcd"},
        {"a\x1b[>4mb\x1b[?1mc", "abc"},
        {"a\x0c\x0b\x0e\x0f\x7f"
         "b\a",
         "ab\a"},
        {"a\x1b[12\nb\x1b]never ended\nc", "a\nb\nc"},
        {"\x1b\x1b[2Jx\x1b[3\x1b[Hy", "xy"},
    };
    for (const Case& one : cases) {
        INFO(one.shown);
        for (const std::size_t piece : {1, 2, 3, 100}) CHECK(passed(one.text, piece) == one.shown);
    }
}
