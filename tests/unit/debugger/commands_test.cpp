// Command lines: names of gdb and dbx, abbreviations, arguments.
#include "debugger/commands.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

TEST_CASE("commands have the names of gdb and dbx, abbreviations and beginnings") {
    const auto kind = [](const char* line) { return parse_command(line)->kind; };
    CHECK(kind("break main") == CommandKind::kBreak);
    CHECK(kind("b main") == CommandKind::kBreak);
    CHECK(kind("stop in main") == CommandKind::kStop);
    CHECK(kind("cont") == CommandKind::kContinue);
    CHECK(kind("conti") == CommandKind::kContinue);
    CHECK(kind("n") == CommandKind::kNext);
    CHECK(kind("s") == CommandKind::kStep);
    CHECK(kind("bt") == CommandKind::kWhere);
    CHECK(kind("p x") == CommandKind::kPrint);
    CHECK(kind("status") == CommandKind::kBreakpoints);
    CHECK(kind("x/4i $pc") == CommandKind::kGdb);
    CHECK(kind("info locals") == CommandKind::kGdb);
    CHECK(kind("info threads") == CommandKind::kThread);
    CHECK(kind("i th") == CommandKind::kThread);
    CHECK(kind("info b") == CommandKind::kBreakpoints);
    CHECK(kind("info t") == CommandKind::kGdb);
    CHECK(kind("info threads 2") == CommandKind::kGdb);
}

TEST_CASE("every command is found by its own name and abbreviations are unique") {
    for (const CommandName& command : command_names()) {
        CAPTURE(command.name);
        CHECK(parse_command(command.name)->kind == command.kind);
        CHECK_FALSE(help_lines(command.name).empty());
    }
}

TEST_CASE("a beginning of two commands is the shorter one if the longer one begins with it") {
    CHECK(parse_command("brea work")->kind == CommandKind::kBreak);
    CHECK(parse_command("breakp")->kind == CommandKind::kBreakpoints);
    CHECK(parse_command("ste")->kind == CommandKind::kStep);
    CHECK(parse_command("nex 2")->kind == CommandKind::kNext);
    CHECK(parse_command("st")->kind == CommandKind::kGdb);  // stop, or step
}

TEST_CASE("an empty line repeats what moves tasks, also with on, and goes on with list") {
    const auto repeated = [](const std::string& line) {
        return repetition(line, *parse_command(line));
    };
    CHECK(repeated("next 2") == "next 2");
    CHECK(repeated("on 3 next") == "on 3 next");
    CHECK(repeated("on 3 print x").empty());
    CHECK(repeated("on 3").empty());
    CHECK(repeated("break work").empty());
    CHECK(repeated("list work") == "list");
    CHECK(repeated("list -") == "list -");
}

TEST_CASE("arguments, background and comments") {
    CHECK(parse_command("  print   a + b  ")->arguments == "a + b");
    CHECK(parse_command("p/x n")->arguments == "/x n");
    CHECK(parse_command("cont &")->background);
    CHECK_FALSE(parse_command("print a && b")->background);
    CHECK_FALSE(parse_command("   "));
    CHECK_FALSE(parse_command("# comment"));
    CHECK(parse_command("assign x = 5")->name == "set var x = 5");
    CHECK(parse_command("dump")->name == "info locals");
}

TEST_CASE("words are taken from the front") {
    std::string text = "  3:7  print x ";
    CHECK(take_word(text) == "3:7");
    CHECK(text == "print x");
    CHECK(take_word(text) == "print");
    CHECK(take_word(text) == "x");
    CHECK(take_word(text).empty());
}

TEST_CASE("$task is replaced, longer names are not") {
    CHECK(with_task("$task == 3 && x", "(7)") == "(7) == 3 && x");
    CHECK(with_task("$tasks + $task", "1") == "$tasks + 1");
    CHECK(with_task("$task-1", "4") == "4-1");
}

}  // namespace poe::debugger
