// One value at a time: what is allowed, and how it is refused.
#include "poe/values.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::cli;

namespace {

Result<Value> read(std::string_view id, const std::string& text) {
    return read_value(option_row(id), "-x", text);
}

}  // namespace

TEST_CASE("numbers", "[values]") {
    for (const auto& [text, number] : {std::pair{"1", 1}, {"4", 4}, {"1048576", 1048576}}) {
        const auto value = read("procs", text);
        REQUIRE(value.ok());
        CHECK(value.value().number == number);
        CHECK(value.value().is_number);
    }
    CHECK(read("procs", "010").value().number == 10);  // decimal, not octal
    for (const char* text : {"",
                             "0",
                             "-1",
                             "-4",
                             "1048577",
                             "1000000000",
                             "1e9",
                             "4x",
                             "x",
                             "4 ",
                             " 4",
                             "+4",
                             "0x10",
                             "4.0",
                             "99999999999999999999",
                             "-99999999999999999999",
                             "four",
                             "\xff",
                             "4\n",
                             "--",
                             "-",
                             "yes"}) {
        INFO(text);
        const auto value = read("procs", text);
        REQUIRE_FALSE(value.ok());
        CHECK(value.error().source == "-x");
        CHECK(value.error().expected.find("a number of tasks from 1 to 1048576") !=
              std::string::npos);
    }
    CHECK(read("procs", std::string("4\0", 2)).ok() == false);
}

TEST_CASE("times", "[values]") {
    const std::pair<const char*, std::int64_t> right[] = {
        {"90", 90},  {"90s", 90},     {"1m", 60},     {"10:00", 600},      {"1:30:00", 5400},
        {"0:05", 5}, {"1h30m", 5400}, {"2d", 172800}, {"1d1h1m1s", 90061}, {"61:00", 3660}};
    for (const auto& [text, seconds] : right) {
        INFO(text);
        const auto value = read("maxtime", text);
        REQUIRE(value.ok());
        CHECK(value.value().number == seconds);
        CHECK(value.value().text == (text == std::string("90") ? "90" : std::to_string(seconds)));
    }
    for (const char* text :
         {"1x", "m", "1m1m", "1s1m", "10:0", "10:60", ":10", "10:", "1:2:3:4", "-1m", "1:-1",
          "1h:30", "1.5h", "99999999999d", "99999999d", "1m ", "1m30"}) {
        INFO(text);
        REQUIRE_FALSE(read("maxtime", text).ok());
    }
    CHECK(read("maxtime", "x").error().expected ==
          "expected a number of seconds from 0 to 100000000, or a time such as 10:00 or 1h30m");
    CHECK_FALSE(read("procs", "1m").ok());
    CHECK_FALSE(read("MP_KILL_GRACE", "1m").ok());  // milliseconds
    CHECK(read("retry", "1m").value().number == 60);
}

TEST_CASE("sizes", "[values]") {
    const std::pair<const char*, std::int64_t> right[] = {
        {"4096", 4096},     {"4k", 4096},      {"4K", 4096},      {"64M", 64 << 20},
        {"64mb", 64 << 20}, {"1g", 1LL << 30}, {"1G", 1LL << 30}, {"1024g", 1LL << 40},
    };
    for (const auto& [text, bytes] : right) {
        INFO(text);
        const auto value = read("buffer_mem", text);
        REQUIRE(value.ok());
        CHECK(value.value().number == bytes);
    }
    for (const char* text :
         {"", "k", "0", "-4k", "4kk", "4q", "1.5M", "2049g", "99999999999999999999",
          "99999999999999999999g", "18446744073709551615g", "08k", "0x40M", "64 MM", "64 M", " 64M",
          "64M\n"}) {
        INFO(text);
        CHECK_FALSE(read("buffer_mem", text).ok());
    }
}

TEST_CASE("choices do not care for letter case, except where they do", "[values]") {
    CHECK(read("labelio", "YES").value().text == "yes");
    CHECK(read("labelio", "yes").value().yes());
    CHECK(read("labelio", "No").value().text == "no");
    CHECK_FALSE(read("labelio", "No").value().yes());
    CHECK(read("wait_mode", "NoPoll").value().text == "nopoll");
    CHECK(read("euilib", "ip").value().text == "ip");
    CHECK_FALSE(read("euilib", "IP").ok());
    for (const char* text : {"", "y", "true", "1", "on", "yess", "yes ", "yes no"})
        CHECK_FALSE(read("labelio", text).ok());
}

TEST_CASE("a number or a word", "[values]") {
    const auto task = read("stdinmode", "3");
    REQUIRE(task.ok());
    CHECK(task.value().is_number);
    CHECK(task.value().number == 3);
    const auto word = read("stdinmode", "ALL");
    REQUIRE(word.ok());
    CHECK_FALSE(word.value().is_number);
    CHECK(word.value().text == "all");
    CHECK_FALSE(read("stdinmode", "-1").ok());
    CHECK_FALSE(read("stdinmode", "al").ok());
}

TEST_CASE("files and strings pass as they stand", "[values]") {
    for (const char* text : {"", "A File", "-dash", "\xff\xfe", "{}", "[a,b]", "x=y"}) {
        CHECK(read("hostfile", text).value().text == text);
        CHECK(read("fence", text).value().text == text);
    }
}

TEST_CASE("what is said of a wrong value", "[values]") {
    struct Case {
        std::string_view id;
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"procs", "4x", "-x: \"4x\" is not allowed; expected a number of tasks from 1 to 1048576"},
        {"procs", "", "-x: its value is empty; expected a number of tasks from 1 to 1048576"},
        {"procs", "-labelio",
         "-x: \"-labelio\" is not allowed; expected a number of tasks from 1 to 1048576; was the "
         "value "
         "before \"-labelio\" forgotten?"},
        {"labelio", "yess", "-x: \"yess\" is not allowed; expected yes or no; did you mean yes?"},
        {"labelio", "y", "-x: \"y\" is not allowed; expected yes or no; did you mean yes?"},
        {"pgmmodel", "smpd",
         "-x: \"smpd\" is not allowed; expected spmd or mpmd; did you mean spmd?"},
        {"euilib", "IP",
         "-x: \"IP\" is not allowed; expected us or ip; did you mean ip? (letter case matters)"},
        {"stdoutmode", "order",
         "-x: \"order\" is not allowed; expected unordered, ordered, folded or a task id from 0 to "
         "1048575; did "
         "you mean ordered?"},
        {"labelio", "a\x1b[1m", "-x: \"a\\x1b[1m\" is not allowed; expected yes or no"},
    };
    for (const Case& one : cases) CHECK(read(one.id, one.text).error().str() == one.message);
}

TEST_CASE("means_yes", "[values]") {
    CHECK(means_yes("yes"));
    CHECK(means_yes("YES"));
    for (const char* text : {"", "y", "no", "yess"}) CHECK_FALSE(means_yes(text));
}
