// Command lines: words and quotes; and the files made of them.
#include "partition_manager/job/commands_file.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;
using Words = std::vector<std::string>;

TEST_CASE("words of a line", "[commands_file]") {
    const std::pair<std::string, Words> cases[] = {
        {"", {}},
        {"  \t ", {}},
        {"a", {"a"}},
        {" a  b\tc ", {"a", "b", "c"}},
        {"'a b'", {"a b"}},
        {"\"a b\"", {"a b"}},
        {"a' 'b", {"a b"}},
        {"''", {""}},
        {"a '' \"\"", {"a", "", ""}},
        {R"(a\ b)", {"a b"}},
        {R"(\'\"\\)", {R"('"\)"}},
        {R"('\')", {R"(\)"}},
        {R"('"' "'")", {"\"", "'"}},
        {R"("\" \\ \$ \` \n")", {R"(" \ $ ` \n)"}},
        {R"($HOME * ~ `x` $(y) a;b | c > d &)",
         {"$HOME", "*", "~", "`x`", "$(y)", "a;b", "|", "c", ">", "d", "&"}},
        {"a #b !c", {"a", "#b", "!c"}},
        {"caf\xc3\xa9 \xff\xfe", {"caf\xc3\xa9", "\xff\xfe"}},
        {"a\r", {"a"}},
    };
    for (const auto& [text, words] : cases) {
        INFO(text);
        const auto split = split_command(text, "f", 1);
        REQUIRE(split.ok());
        CHECK(split.value() == words);
    }
}

TEST_CASE("mistakes in a line", "[commands_file]") {
    const std::pair<std::string, std::string> cases[] = {
        {"a 'b",
         "f:7:3: the quote ' has no end on its line; expected another ', or \\' for the "
         "character"},
        {"it's",
         "f:7:3: the quote ' has no end on its line; expected another ', or \\' for the "
         "character"},
        {"a b\"c",
         "f:7:4: the quote \" has no end on its line; expected another \", or \\\" for the "
         "character"},
        {"\"\\\"",
         "f:7:1: the quote \" has no end on its line; expected another \", or \\\" for the "
         "character"},
        {"a \\",
         "f:7:3: a backslash at the end of the command; write \\\\ for a backslash; a command is "
         "one line"},
        {std::string("a \0b", 4), "f:7:3: a NUL byte; expected text: no argument can hold it"},
    };
    for (const auto& [text, message] : cases) {
        const auto split = split_command(text, "f", 7);
        REQUIRE_FALSE(split.ok());
        CHECK(split.error().str() == message);
    }
}

TEST_CASE("comments and blank lines", "[commands_file]") {
    for (const char* line : {"", " ", "\t\r", "!", "* x", "# x", "  !x"})
        CHECK(is_blank_or_comment(line));
    for (const char* line : {"a", " a !", "'!'", "\\#"}) CHECK_FALSE(is_blank_or_comment(line));
}

TEST_CASE("files", "[commands_file]") {
    const auto file = parse_commands_file("\xef\xbb\xbf! tasks\r\n./a 1\r\n\n  ./b 'x y'", "jobs");
    REQUIRE(file.ok());
    CHECK(file.value().path == "jobs");
    REQUIRE(file.value().lines.size() == 2);
    CHECK(file.value().lines[0].words == Words{"./a", "1"});
    CHECK(file.value().lines[0].line == 2);
    CHECK(file.value().lines[1].words == Words{"./b", "x y"});
    CHECK(file.value().lines[1].line == 4);

    const auto wrong = parse_commands_file("./a\n./b \"\n", "jobs");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().line == 2);
    CHECK(wrong.error().column == 5);
    CHECK(load_commands_file("/absent").error().str() ==
          "/absent: cannot read the commands file: No such file or directory");
}

TEST_CASE("quoting shows a word as one would type it", "[commands_file]") {
    const std::pair<std::string, std::string> cases[] = {
        {"./ring", "./ring"},
        {"a=b:c,d@e%f+g-h", "a=b:c,d@e%f+g-h"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", R"('it'\''s')"},
        {"$HOME", "'$HOME'"},
        {"a\tb\x1b", R"($'a\x09b\x1b')"},
        {"a\n'\\", R"($'a\x0a\'\\')"},
    };
    for (const auto& [word, shown] : cases) CHECK(shell_quoted(word) == shown);
    for (const char* word : {"", "a b", "it's", "''", "\\", "\"", "\\'\"$`", "#", "\xff"})
        CHECK(split_command(shell_quoted(word), "f", 1).value() == Words{word});
}
