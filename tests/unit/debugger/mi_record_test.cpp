// gdb's machine interface: records, values, and lines that are none.
#include "debugger/mi_record.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

using Kind = MiRecord::Kind;

TEST_CASE("a result record has a token, a class and nested values") {
    const MiRecord record = parse_mi(
        R"(12^done,stack=[frame={level="0",func="main",args=[]},frame={level="1",func="start"}],a="b")");
    CHECK(record.kind == Kind::kResult);
    CHECK(record.token == 12);
    CHECK(record.name == "done");
    const MiValue* stack = record.results.find("stack");
    REQUIRE(stack != nullptr);
    CHECK(stack->kind == MiValue::Kind::kList);
    REQUIRE(stack->items.size() == 2);
    CHECK(stack->items[1].first == "frame");
    CHECK(stack->items[1].second.text_of("func") == "start");
    CHECK(stack->items[0].second.find("args")->items.empty());
    CHECK(record.results.text_of("a") == "b");
    CHECK(record.results.text_of("c").empty());
}

TEST_CASE("values of a list need no names") {
    const MiRecord record =
        parse_mi(R"(*stopped,thread-id="3",stopped-threads=["3","4"],x=[{a="1"},{a="2"}])");
    CHECK(record.kind == Kind::kExec);
    CHECK_FALSE(record.token);
    const MiValue* threads = record.results.find("stopped-threads");
    REQUIRE(threads->items.size() == 2);
    CHECK(threads->items[1].second.text == "4");
    CHECK(record.results.find("x")->items[1].second.text_of("a") == "2");
}

TEST_CASE("escapes in strings are decoded") {
    CHECK(parse_mi(R"(~"a\tb\"c\\d\n\303\244\e")").text == "a\tb\"c\\d\n\303\244\033");
    CHECK(parse_mi(R"(&"x\"")").kind == Kind::kLog);
    CHECK(parse_mi(R"(@"out")").kind == Kind::kTarget);
}

TEST_CASE("the prompt is recognized with the blank that gdb writes") {
    CHECK(parse_mi("(gdb) ").kind == Kind::kPrompt);
    CHECK(parse_mi("(gdb)").kind == Kind::kPrompt);
}

TEST_CASE("a line that is not MI is kept as it is") {
    for (const char* line : {"", "hello", "^", "12", "~\"open", "~\"a\"b", "^done,", "^done,a",
                             "^done,a=", "^done,a={", "^done,a=\"x\"y", "^done,=\"x\"",
                             "99999999999999999999^done", "^done,a=[\"x\"}"}) {
        CAPTURE(line);
        CHECK(parse_mi(line).kind == Kind::kOther);
    }
    CHECK(parse_mi("hello").text == "hello");
}

TEST_CASE("deep nesting is refused and does not exhaust the stack") {
    CHECK(parse_mi("^done,a=" + std::string(1000000, '{')).kind == Kind::kOther);
    CHECK(parse_mi("^done,a=" + std::string(1000000, '[')).kind == Kind::kOther);
}

TEST_CASE("a text survives quoting and parsing") {
    const std::string text = "a \"b\" \\ c\n\td\\n";
    CHECK(parse_mi("~" + mi_quoted(text)).text == text);
}

}  // namespace poe::debugger
