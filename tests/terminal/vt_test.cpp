// vt on a terminal: what is on the screen, that keys work, and that the terminal is as before,
// however vt ends.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/terminal/terminal.hpp"
#include "tests/unit/tracer/trace_maker.hpp"

using namespace poe;
using poe::test::Terminal;

namespace {

struct TraceFile {
    explicit TraceFile(
        const std::string& bytes = trace::test::gathered(trace::test::small_streams()))
        : folder(std::filesystem::temp_directory_path() /
                 ("vt_screen_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder);
        write(bytes);
    }
    ~TraceFile() { std::filesystem::remove_all(folder); }
    void write(const std::string& bytes) const {
        std::ofstream(folder / "new", std::ios::binary) << bytes;
        std::filesystem::rename(folder / "new", path());
    }
    std::string path() const { return (folder / "run.trace").string(); }
    std::filesystem::path folder;
};

std::vector<std::string> vt(const TraceFile& file) {
    return {POE_BIN "/vt", file.path()};
}

}  // namespace

TEST_CASE("a trace on the screen, keys, and its end") {
    const TraceFile file;
    Terminal terminal(24, 80, vt(file));
    REQUIRE(terminal.wait_for("timeline"));
    CHECK(terminal.on_other_screen());
    CHECK(terminal.find("vt solver  4 tasks").first == 0);
    terminal.type("j40%\r");
    CHECK(terminal.wait_for("0.000400 s 40%"));
    terminal.type("v");
    CHECK(terminal.wait_for("Communication"));
    terminal.type("C");
    terminal.type("t");
    terminal.type("vM");
    terminal.type("\033");
    CHECK(terminal.wait_for("matrix"));
    terminal.type("/task=3 call=sync\r");
    CHECK(terminal.wait_for("0.000900 s"));
    terminal.type("/nothing\r");
    CHECK(terminal.wait_for("cannot search for \"nothing\""));
    terminal.type("?");
    CHECK(terminal.wait_for("play and pause"));
    terminal.type("\033");
    terminal.resize(10, 40);
    CHECK(terminal.wait_until([&] { return terminal.find("? help").first == 9; }));
    terminal.type("q");
    CHECK(terminal.end() == 0);
    CHECK_FALSE(terminal.on_other_screen());
    CHECK(terminal.cursor_visible());
    CHECK(terminal.settings_as_before());
}

TEST_CASE("however vt ends, the terminal is as before") {
    const int signal = GENERATE(SIGTERM, SIGINT, SIGSEGV);
    const TraceFile file;
    Terminal terminal(24, 80, vt(file));
    REQUIRE(terminal.wait_for("timeline"));
    terminal.signal(signal);
    CHECK(terminal.end() != 0);
    CHECK_FALSE(terminal.on_other_screen());
    CHECK(terminal.cursor_visible());
    CHECK(terminal.settings_as_before());
}

TEST_CASE("playing comes to the end and stops") {
    const TraceFile file;
    Terminal terminal(24, 80, vt(file));
    REQUIRE(terminal.wait_for("timeline"));
    terminal.type("+++++++++ ");
    CHECK(terminal.wait_for("0.001000 s 100%"));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a trace that grows is followed") {
    auto streams = trace::test::small_streams();
    const TraceFile file(streams[0].bytes(false));
    Terminal terminal(24, 80, vt(file));
    REQUIRE(terminal.wait_for("timeline"));
    terminal.type("G");
    CHECK(terminal.wait_for("0.001000 s 100%"));
    trace::test::send_call(streams[0], 1500, 2000, 1);
    file.write(streams[0].bytes(false));
    CHECK(terminal.wait_for("0.002000 s 100%"));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a job is followed by the name of its trace, to the end") {
    auto streams = trace::test::small_streams();
    const TraceFile file;
    const auto trace = file.folder / "job.trc";
    const auto parts = file.folder / "job.trc.j1-0.parts";
    std::filesystem::create_directory(parts);
    std::ofstream(parts / "task-0.stream", std::ios::binary) << streams[0].bytes(false);
    Terminal terminal(24, 80, {POE_BIN "/vt", trace.string()});
    REQUIRE(terminal.wait_for("timeline"));
    terminal.type("G");
    CHECK(terminal.wait_for("0.001000 s 100%"));
    trace::test::send_call(streams[0], 1500, 3000, 1);
    std::ofstream(trace, std::ios::binary) << trace::test::gathered(streams);
    std::filesystem::remove_all(parts);
    CHECK(terminal.wait_for("0.003000 s 100%"));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("vt opens with several views and the totals of the trace") {
    const TraceFile file;
    Terminal terminal(30, 120, vt(file));
    REQUIRE(terminal.wait_for("timeline"));
    CHECK(terminal.wait_for("0.001000 s 100%"));
    CHECK(terminal.wait_for("STATE"));
    CHECK(terminal.wait_for("balance"));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a cell of the time line has two colours") {
    const TraceFile file;
    Terminal terminal(24, 20, vt(file), {{"TERM", "xterm-256color"}});
    REQUIRE(terminal.wait_for("timeline"));
    const auto two_colors = [&] {
        for (int line = 2; line < 12; ++line)
            for (int column = 5; column < 20; ++column) {
                const VTermScreenCell cell = terminal.cell(line, column);
                if (!VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) && !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg))
                    return true;
            }
        return false;
    };
    CHECK(terminal.wait_until(two_colors));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a click with the mouse searches for the messages of a connection") {
    const TraceFile file;
    Terminal terminal(24, 80, vt(file), {{"TERM", "xterm-256color"}});
    REQUIRE(terminal.wait_for("timeline"));
    terminal.type("vc");
    REQUIRE(terminal.wait_for("2 ──▶ 3"));
    const auto [line, column] = terminal.find("2 ──▶ 3");
    REQUIRE(line > 0);
    terminal.type("\033[<0;" + std::to_string(column + 3) + ";" + std::to_string(line + 1) + "M");
    CHECK(terminal.wait_for("msg 2<>3: the next one is here"));
    CHECK(terminal.wait_for("0.000100 s 10%"));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}

TEST_CASE("vt says when a later run of the same trace is under way, or has replaced it") {
    auto streams = trace::test::small_streams();
    const TraceFile file;
    const auto parts = file.folder / "run.trace.j2-0.parts";
    {
        Terminal terminal(24, 120, vt(file));
        REQUIRE(terminal.wait_for("timeline"));
        std::filesystem::create_directory(parts);
        CHECK(terminal.wait_for("an earlier run is shown; a later one goes on"));
        CHECK(terminal.wait_for("run.trace.j2-0.parts"));
        std::filesystem::remove_all(parts);
        file.write(trace::test::gathered(streams));
        CHECK(terminal.wait_for("is another trace by now"));
        terminal.type("q");
        CHECK(terminal.end() == 0);
    }
    std::filesystem::create_directory(parts);
    Terminal terminal(80, 200, {POE_BIN "/vt", "-summary", file.path()});
    CHECK(terminal.wait_for("an earlier run is shown"));
    CHECK(terminal.end() == 0);
}

TEST_CASE("messages of vt are broken between words") {
    Terminal terminal(24, 44, {POE_BIN "/vt", "-view", "timelin", "x"});
    CHECK(terminal.wait_for("source"));
    for (const char* word : {"connections,", "utilization,", "messages,", "timeline?"})
        CHECK(terminal.find(word).first >= 0);
    CHECK(WEXITSTATUS(terminal.end()) == 2);
}

TEST_CASE("no colours, no Unicode") {
    const TraceFile file;
    Terminal terminal(24, 80, vt(file), {{"NO_COLOR", "1"}, {"LC_ALL", "C"}, {"LANG", "C"}});
    REQUIRE(terminal.wait_for("timeline"));
    REQUIRE(terminal.wait_until([&] { return terminal.find("###").first >= 0; }));
    const auto [line, column] = terminal.find("###");
    const VTermScreenCell cell = terminal.cell(line, column);
    CHECK(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
    terminal.type("q");
    CHECK(terminal.end() == 0);
}
