// poe -pmarray and -progress on a terminal: the display stays in its lines, output and input have
// the rest, and the whole screen scrolls again afterwards, however poe ends.
#include <csignal>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "terminal/ansi.hpp"
#include "tests/terminal/terminal.hpp"

using poe::test::Terminal;

namespace {

// A shell, so that what comes after poe is seen, too; each task marks, reads a line, and ends.
std::vector<std::string> shell(const std::string& flag) {
    const std::string task =
        "echo ready; mpmark 0 red; mpmark -progress 1 4; read x; "
        "i=0; while [ $i -lt 40 ]; do echo got $x $i; i=$((i+1)); done; mpmark 1 green finished; "
        "read y; exit $y";
    return {"/bin/sh", "-c",
            "poe sh -c '" + task + "' -procs 2 " + flag +
                "; echo status $?; read z; seq 1001 1030; read end"};
}

std::map<std::string, std::string> environment() {
    return {{"PATH", std::string(POE_BIN) + ":/usr/bin:/bin"}};
}

}  // namespace

TEST_CASE("the array above the output") {
    Terminal terminal(24, 80, shell("-pmarray yes"), environment());
    // Who looks between a task's fork and its exec sees another program for a while.
    REQUIRE(terminal.wait_until([&] {
        return terminal.find("ready").first >= 0 && terminal.find("25%").first >= 0 &&
               terminal.line(0).find(" sh  2 tasks") == 0;
    }));
    CHECK(terminal.find("TASK").first == 2);
    CHECK(terminal.find("ready").first == 6);
    terminal.type("hello\n");
    // Eighty lines later the array is still there.
    REQUIRE(terminal.wait_for("finished"));
    REQUIRE(terminal.wait_for("got hello 39"));
    CHECK(terminal.line(0).find(" sh  2 tasks") == 0);
    CHECK(terminal.find("TASK").first == 2);
    CHECK(terminal.find("ready").first < 0);
    const auto [line, column] = terminal.find("finished");
    CHECK(terminal.cell(line, column - 3).fg.indexed.idx == 167);
    terminal.type("0\n");
    REQUIRE(terminal.wait_for("status 0"));
    CHECK(terminal.find("finished").first >= 0);  // stays as output
    terminal.type("\n");
    // And scrolls away as output.
    REQUIRE(terminal.wait_for("1030"));
    CHECK(terminal.find("TASK").first < 0);
    CHECK(terminal.find("1008").first == 0);
    CHECK(terminal.find("1030").first == 22);
}

TEST_CASE("tasks cannot wipe the array, but colour their lines") {
    const std::string task =
        R"(printf "\033[2J\033[H\033[1;24r\033c\033[31mred\033[0m\n"; echo behind; read y)";
    Terminal terminal(24, 80, {"/bin/sh", "-c", "poe sh -c '" + task + "' -procs 2 -pmarray yes"},
                      environment());
    REQUIRE(terminal.wait_until([&] {
        return terminal.find("behind").first >= 0 && terminal.find("TASK").first >= 0 &&
               terminal.line(0).find(" sh  2 tasks") == 0;
    }));
    CHECK(terminal.find("TASK").first == 1);
    const auto [line, column] = terminal.find("red");
    REQUIRE(line >= 6);
    const VTermScreenCell cell = terminal.cell(line, column);
    REQUIRE(VTERM_COLOR_IS_INDEXED(&cell.fg));
    CHECK(cell.fg.indexed.idx == 1);
    terminal.type("\n");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a line of progress below the output") {
    const int signal = GENERATE(0, SIGTERM, SIGINT);
    Terminal terminal(24, 80, shell("-progress yes"), environment());
    REQUIRE(terminal.wait_until(
        [&] { return terminal.find("ready").first == 0 && terminal.find("25%").first == 23; }));
    terminal.type("hello\n");
    REQUIRE(terminal.wait_for("got hello 39"));
    CHECK(terminal.find("25%").first == 23);
    CHECK(terminal.find("got hello 39").first < 23);
    // The terminal itself keeps its last lines when it shrinks. The panel notices the new size only
    // at its next frame, and output before that would scroll the old line of progress away.
    const std::size_t before_resize = terminal.bytes();
    terminal.resize(12, 60);
    REQUIRE(terminal.wait_until(
        [&] { return terminal.bytes() > before_resize && terminal.find("25%").first == 11; }));
    if (signal == SIGINT)
        terminal.type("\x03");
    else
        terminal.type(signal == 0 ? "0\n" : "143\n");
    if (signal == SIGINT) {
        // The shell ends, too.
        terminal.end();
        CHECK(terminal.find("0031-254").first >= 0);
    } else {
        REQUIRE(terminal.wait_for(signal == 0 ? "status 0" : "status 143"));
        terminal.type("\n");
        REQUIRE(terminal.wait_for("1030"));
        CHECK(terminal.find("1030").first == 10);
    }
    CHECK(terminal.find("25%").first < 0);
}

TEST_CASE("without a terminal that can move its cursor there is only output") {
    auto dumb = environment();
    dumb["TERM"] = "dumb";
    Terminal terminal(24, 80, shell("-pmarray yes -progress yes"), dumb);
    REQUIRE(terminal.wait_for("ready"));
    terminal.type("hello\n3\n");
    REQUIRE(terminal.wait_for("status 3"));
    CHECK(terminal.find("TASK").first < 0);
}

TEST_CASE("bytes between two grids turn one into the other") {
    using namespace poe::terminal;
    Grid before({20, 2});
    before.put(0, 0, "abc");
    before.put(1, 0, "same");
    Grid after({20, 2});
    after.put(0, 0, "abd");
    after.put(1, 0, "same");
    const Palette palette(Colors::kNone);
    CHECK(bytes_between(&after, after, 0, palette).empty());
    CHECK(bytes_between(&before, after, 5, palette) == "\0337\033[0m\033[6;3Hd\033[0m\0338");
    CHECK(bytes_between(nullptr, after, 0, palette).find("same") != std::string::npos);
    CHECK(scroll_region(2, 9) == "\0337\033[3;10r\0338");
    CHECK(scroll_region(-1, -1) == "\0337\033[r\0338");
}
