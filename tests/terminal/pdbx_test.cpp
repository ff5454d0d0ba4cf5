// The prompt of pdbx on a terminal: what is typed, what is shown above it, Ctrl-C, and the ways
// out.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/terminal/terminal.hpp"

using poe::test::Terminal;

namespace {

constexpr int kLines = 40;

// The file of lines that were typed is in HOME.
class Home {
  public:
    Home()
        : path_(std::filesystem::temp_directory_path() / ("pdbx-" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(path_);
    }
    ~Home() { std::filesystem::remove_all(path_); }
    // No search for leaks, because it does not work in a process that a debugger holds.
    std::map<std::string, std::string> environment() const {
        return {{"PATH", std::string(POE_BIN) + ":/usr/bin:/bin"},
                {"HOME", path_.string()},
                {"ASAN_OPTIONS", "detect_leaks=0"}};
    }
    std::filesystem::path path() const { return path_; }

  private:
    std::filesystem::path path_;
};

std::vector<std::string> pdbx(const std::string& program, const std::string& tasks) {
    return {std::string(POE_BIN) + "/pdbx", std::string(POE_EXAMPLES) + "/bugs/" + program,
            "-procs", tasks};
}

std::vector<std::string> pdbx_screen(const std::string& program) {
    std::vector<std::string> command = pdbx(program, "4");
    command.insert(command.begin() + 1, "-screen");
    return command;
}

// Waits until the last line of the screen is this prompt.
bool wait_for_prompt(Terminal& terminal, const std::string& prompt) {
    return terminal.wait_until([&] {
        std::string text = terminal.text();
        text.erase(text.find_last_not_of(" \n") + 1);
        const std::size_t line = text.rfind('\n') + 1;
        return text.substr(line) == prompt;
    });
}

}  // namespace

TEST_CASE("a session at the prompt") {
    const Home home;
    Terminal terminal(kLines, 100, pdbx("wrong_index", "4"), home.environment());
    REQUIRE(terminal.wait_for("pdbx all 4/4>"));
    CHECK(terminal.find("0-3: main at wrong_index.c").first >= 0);
    terminal.type("b range_of\n");
    REQUIRE(terminal.wait_for("breakpoint 1: range_of at wrong_index.c"));
    terminal.type("on 1:2\n");
    REQUIRE(terminal.wait_for("pdbx 1:2 2/2>"));
    terminal.type("cont\n");
    REQUIRE(terminal.wait_for("1,2: breakpoint"));
    terminal.type("p task\n");
    REQUIRE(terminal.wait_for("1: 1"));
    CHECK(terminal.find("2: 2").first >= 0);
    // Completion, and a mistake.
    terminal.type("valu\ttask\n");
    REQUIRE(terminal.wait_for("max   2  (task 2)"));
    terminal.type("print nothing\n");
    REQUIRE(terminal.wait_for("No symbol \"nothing\""));
    terminal.type("on all\n");
    REQUIRE(terminal.wait_for("pdbx all 4/4>"));
    terminal.type("delete\ncont\n");
    REQUIRE(terminal.wait_for("the sum is 36, and should be 55"));
    REQUIRE(terminal.wait_for("the job has ended with status 0"));
    const int status = terminal.end();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(terminal.settings_as_before());
    std::ifstream history(home.path() / ".pdbx_history");
    std::string line;
    std::getline(history, line);
    CHECK(line == "b range_of");
}

TEST_CASE("the first screen of 1 to 64 tasks, in C, C++ and Fortran, with MPI and MPL") {
    const Home home;
    struct Program {
        const char* name;
        const char* source;
    };
    for (const Program& program : {Program{"wrong_index", "wrong_index.c"},  // MPI, C
                                   Program{"deadlock", "deadlock.c"},        // MPL, C
                                   Program{"crash", "crash.cpp"},            // MPI, C++
                                   Program{"nan", "nan.f90"}}) {             // MPI, Fortran
        for (const int tasks : {1, 4, 16, 64}) {
            INFO(program.name << " with " << tasks);
            const std::string count = std::to_string(tasks);
            const std::string all = tasks == 1 ? "0" : "0-" + std::to_string(tasks - 1);
            Terminal terminal(kLines, 100, pdbx(program.name, count), home.environment());
            REQUIRE(wait_for_prompt(terminal, "pdbx all " + count + "/" + count + ">"));
            CHECK(terminal.find(all + ": ").first == 0);
            CHECK(terminal.find(std::string(" at ") + program.source).first == 0);
            terminal.type("where\n");
            REQUIRE(terminal.wait_for("  " + std::string(program.source) + ":"));
            CHECK(terminal.find(tasks == 1 ? "0  " : all + " (" + count + ")").first > 0);
            terminal.type("quit\n");
            const int status = terminal.end();
            CHECK(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0);
        }
    }
}

TEST_CASE("Ctrl-C stops the tasks and quit ends the job") {
    const Home home;
    Terminal terminal(kLines, 100, pdbx("deadlock", "4"), home.environment());
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    terminal.type("cont &\n");
    REQUIRE(wait_for_prompt(terminal, "pdbx all 0/4>"));
    terminal.type("where\n");
    REQUIRE(terminal.wait_for("tasks 0-3 run; stop them first"));
    terminal.type("\x03");
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    terminal.type("where\n");
    REQUIRE(terminal.wait_for("main  deadlock.c"));
    terminal.type("cont\n");
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4> cont"));
    terminal.type("\x03");
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    terminal.type("quit\n");
    const int status = terminal.end();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(terminal.settings_as_before());
}

TEST_CASE("the screen of pdbx") {
    const Home home;
    Terminal terminal(kLines, 100, pdbx_screen("wrong_index"), home.environment());
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    REQUIRE(terminal.wait_for("/wrong_index.c"));
    CHECK(terminal.find("answers and output").first >= 0);
    // What is typed while a command is executed is kept.
    terminal.type("b range_of\ncont\non 1,2 finish\n");
    REQUIRE(terminal.wait_for("1,2 (2)"));
    REQUIRE(terminal.wait_for("0,3 (2)"));
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    // The line of the function has tasks 0 and 3 in its margin, and the marker of the selected
    // frame.
    REQUIRE(terminal.wait_for("0,3>"));
    terminal.type(
        "halt\x01\x0b"
        "delete\ncont &\n");
    REQUIRE(terminal.wait_for("the sum is 36, and should be 55"));
    const int status = terminal.end();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(terminal.settings_as_before());
    // The last answers stay on the terminal.
    CHECK(terminal.find("the job has ended with status 0").first >= 0);
}

TEST_CASE("Ctrl-C, another size and quit on the screen of pdbx") {
    const Home home;
    Terminal terminal(kLines, 100, pdbx_screen("deadlock"), home.environment());
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    terminal.type("cont\n");
    REQUIRE(wait_for_prompt(terminal, "running; Ctrl-C stops the tasks"));
    terminal.type("\x03");
    REQUIRE(wait_for_prompt(terminal, "pdbx all 4/4>"));
    terminal.resize(20, 60);
    terminal.type("where\n");
    REQUIRE(terminal.wait_for("main  deadlock.c"));
    terminal.type("quit\n");
    const int status = terminal.end();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(terminal.settings_as_before());
}
