// One value at a time: what is allowed, and how it is refused.
#include "poe/values.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::cli;

namespace {

Result<Value> read(OptionId id, const std::string& text) {
    return read_value(option_row(id), "-x", text);
}

}  // namespace

TEST_CASE("numbers", "[values]") {
    for (const auto& [text, number] : {std::pair{"1", 1}, {"4", 4}, {"1048576", 1048576}}) {
        const auto value = read(OptionId::kProcs, text);
        REQUIRE(value.ok());
        CHECK(value.value().number == number);
        CHECK(value.value().is_number);
    }
    CHECK(read(OptionId::kProcs, "010").value().number == 10);  // decimal, not octal
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
        const auto value = read(OptionId::kProcs, text);
        REQUIRE_FALSE(value.ok());
        CHECK(value.error().source == "-x");
        CHECK(value.error().expected.find("a number of tasks from 1 to 1048576") !=
              std::string::npos);
    }
    CHECK(read(OptionId::kProcs, std::string("4\0", 2)).ok() == false);
}

TEST_CASE("times", "[values]") {
    const std::pair<const char*, std::int64_t> right[] = {
        {"90", 90},  {"90s", 90},     {"1m", 60},     {"10:00", 600},      {"1:30:00", 5400},
        {"0:05", 5}, {"1h30m", 5400}, {"2d", 172800}, {"1d1h1m1s", 90061}, {"61:00", 3660}};
    for (const auto& [text, seconds] : right) {
        INFO(text);
        const auto value = read(OptionId::kMaxtime, text);
        REQUIRE(value.ok());
        CHECK(value.value().number == seconds);
        CHECK(value.value().text == (text == std::string("90") ? "90" : std::to_string(seconds)));
    }
    for (const char* text :
         {"1x", "m", "1m1m", "1s1m", "10:0", "10:60", ":10", "10:", "1:2:3:4", "-1m", "1:-1",
          "1h:30", "1.5h", "99999999999d", "99999999d", "1m ", "1m30"}) {
        INFO(text);
        REQUIRE_FALSE(read(OptionId::kMaxtime, text).ok());
    }
    CHECK(read(OptionId::kMaxtime, "x").error().expected ==
          "expected a number of seconds from 0 to 100000000, or a time such as 10:00 or 1h30m");
    CHECK_FALSE(read(OptionId::kProcs, "1m").ok());
    CHECK_FALSE(read(OptionId::kKillGrace, "1m").ok());  // milliseconds
    CHECK(read(OptionId::kRetry, "1m").value().number == 60);
}

TEST_CASE("sizes", "[values]") {
    const std::pair<const char*, std::int64_t> right[] = {
        {"4096", 4096},     {"4k", 4096},      {"4K", 4096},      {"64M", 64 << 20},
        {"64mb", 64 << 20}, {"1g", 1LL << 30}, {"1G", 1LL << 30}, {"1024g", 1LL << 40},
    };
    for (const auto& [text, bytes] : right) {
        INFO(text);
        const auto value = read(OptionId::kBufferMem, text);
        REQUIRE(value.ok());
        CHECK(value.value().number == bytes);
    }
    for (const char* text :
         {"", "k", "0", "-4k", "4kk", "4q", "1.5M", "2049g", "99999999999999999999",
          "99999999999999999999g", "18446744073709551615g", "08k", "0x40M", "64 MM", "64 M", " 64M",
          "64M\n"}) {
        INFO(text);
        CHECK_FALSE(read(OptionId::kBufferMem, text).ok());
    }
}

TEST_CASE("choices do not care for letter case, except where they do", "[values]") {
    CHECK(read(OptionId::kLabelio, "YES").value().text == "yes");
    CHECK(read(OptionId::kLabelio, "yes").value().yes());
    CHECK(read(OptionId::kLabelio, "No").value().text == "no");
    CHECK_FALSE(read(OptionId::kLabelio, "No").value().yes());
    CHECK(read(OptionId::kWaitMode, "NoPoll").value().text == "nopoll");
    CHECK(read(OptionId::kEuilib, "ip").value().text == "ip");
    CHECK_FALSE(read(OptionId::kEuilib, "IP").ok());
    for (const char* text : {"", "y", "true", "1", "on", "yess", "yes ", "yes no"})
        CHECK_FALSE(read(OptionId::kLabelio, text).ok());
}

TEST_CASE("a number or a word", "[values]") {
    const auto task = read(OptionId::kStdinmode, "3");
    REQUIRE(task.ok());
    CHECK(task.value().is_number);
    CHECK(task.value().number == 3);
    const auto word = read(OptionId::kStdinmode, "ALL");
    REQUIRE(word.ok());
    CHECK_FALSE(word.value().is_number);
    CHECK(word.value().text == "all");
    CHECK_FALSE(read(OptionId::kStdinmode, "-1").ok());
    CHECK_FALSE(read(OptionId::kStdinmode, "al").ok());
}

TEST_CASE("files and strings pass as they stand", "[values]") {
    for (const char* text : {"", "A File", "-dash", "\xff\xfe", "{}", "[a,b]", "x=y"}) {
        CHECK(read(OptionId::kHostfile, text).value().text == text);
        CHECK(read(OptionId::kFence, text).value().text == text);
    }
}

TEST_CASE("what is said of a wrong value", "[values]") {
    struct Case {
        OptionId id;
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {OptionId::kProcs, "4x",
         "-x: \"4x\" is not allowed; expected a number of tasks from 1 to 1048576"},
        {OptionId::kProcs, "",
         "-x: its value is empty; expected a number of tasks from 1 to 1048576"},
        {OptionId::kProcs, "-labelio",
         "-x: \"-labelio\" is not allowed; expected a number of tasks from 1 to 1048576; was the "
         "value "
         "before \"-labelio\" forgotten?"},
        {OptionId::kLabelio, "yess",
         "-x: \"yess\" is not allowed; expected yes or no; did you mean yes?"},
        {OptionId::kLabelio, "y",
         "-x: \"y\" is not allowed; expected yes or no; did you mean yes?"},
        {OptionId::kPgmmodel, "smpd",
         "-x: \"smpd\" is not allowed; expected spmd or mpmd; did you mean spmd?"},
        {OptionId::kEuilib, "IP",
         "-x: \"IP\" is not allowed; expected us or ip; did you mean ip? (letter case matters)"},
        {OptionId::kStdoutmode, "order",
         "-x: \"order\" is not allowed; expected unordered, ordered, folded or a task id from 0 to "
         "1048575; did "
         "you mean ordered?"},
        {OptionId::kLabelio, "a\x1b[1m", "-x: \"a\\x1b[1m\" is not allowed; expected yes or no"},
    };
    for (const Case& one : cases) CHECK(read(one.id, one.text).error().str() == one.message);
}

TEST_CASE("means_yes", "[values]") {
    CHECK(means_yes("yes"));
    CHECK(means_yes("YES"));
    for (const char* text : {"", "y", "no", "yess"}) CHECK_FALSE(means_yes(text));
}
