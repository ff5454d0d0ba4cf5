// pmarray on a terminal: what is on the screen, in which colours, at which size, how many bytes a
// change costs, and that the terminal is as before, however pmarray ends.
#include <csignal>
#include <fstream>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "tests/terminal/terminal.hpp"
#include "tests/unit/markerarray/fake_job.hpp"

using namespace poe;
using poe::markers::test::FakeJob;
using poe::test::Terminal;

namespace {

constexpr int kRed = 62;

struct Job : FakeJob {
    Job() : FakeJob(pm::kJobDirectoryParent, unique_id("terminal"), 4) {
        for (unsigned task = 0; task < 4; ++task) {
            marks(task).set_text("this is task " + std::to_string(task));
            marks(task).set_light(0, 25);
            marks(task).set_light(4, 99);
        }
    }
};

std::vector<std::string> pmarray(const Job& job) {
    return {POE_BIN "/pmarray", job.id()};
}

// The digits of the clock change once a second, other things when they do.
bool shows_array(Terminal& terminal) {
    return terminal.wait_for("this is task 3");
}

std::string color_of(const VTermScreenCell& cell) {
    if (VTERM_COLOR_IS_DEFAULT_FG(&cell.fg)) return "default";
    if (VTERM_COLOR_IS_INDEXED(&cell.fg)) return std::to_string(cell.fg.indexed.idx);
    return "rgb";
}

}  // namespace

TEST_CASE("the array on a terminal, and its end") {
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    CHECK(terminal.on_other_screen());
    CHECK_FALSE(terminal.cursor_visible());
    CHECK(terminal.find("TASK").first == 1);
    REQUIRE(terminal.wait_until([&] { return terminal.find("? help").first == 23; }));
    job.marks(2).set_text("changed");
    CHECK(terminal.wait_for("changed"));
    job.end();
    CHECK(terminal.wait_for("ended"));
    CHECK(terminal.find("this is task 1").first == 3);
    terminal.type("q");
    CHECK(terminal.end() == 0);
    CHECK_FALSE(terminal.on_other_screen());
    CHECK(terminal.cursor_visible());
    CHECK(terminal.mouse_mode() == VTERM_PROP_MOUSE_NONE);
    CHECK(terminal.settings_as_before());
}

TEST_CASE("however it ends, the terminal is as before") {
    const int signal = GENERATE(SIGTERM, SIGHUP, SIGINT, SIGSEGV, SIGABRT);
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    REQUIRE_FALSE(terminal.settings_as_before());
    terminal.signal(signal);
    const int status = terminal.end();
    const bool deadly = signal == SIGSEGV || signal == SIGABRT;
    // Sanitizers have handlers of their own, which make an exit of it.
    const bool as_expected =
        deadly ? status != 0 : WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal;
    CHECK(as_expected);
    CHECK_FALSE(terminal.on_other_screen());
    CHECK(terminal.cursor_visible());
    CHECK(terminal.mouse_mode() == VTERM_PROP_MOUSE_NONE);
    CHECK(terminal.settings_as_before());
}

TEST_CASE("one light that changes costs at most a hundred bytes") {
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    const auto [line, column] = terminal.find("this is task 2");
    const int light = column - 6;
    terminal.settle();
    // The clock of the title may change in the same moment: some other attempt is without it.
    std::size_t least = 1000;
    for (int attempt = 0; attempt < 20; ++attempt) {
        const int color = attempt % 2 == 0 ? kRed : 37;
        const std::string old = color_of(terminal.cell(line, light));
        const std::size_t quiet = terminal.bytes();
        job.marks(2).set_light(0, static_cast<std::uint8_t>(color));
        REQUIRE(terminal.wait_until(
            [&, l = line] { return color_of(terminal.cell(l, light)) != old; }));
        least = std::min(least, terminal.bytes() - quiet);
    }
    CHECK(least <= 100);
}

TEST_CASE("colours: many, eight, none") {
    struct Kind {
        const char* term;
        const char* no_color;
        const char* light;
    };
    const Kind kind =
        GENERATE(Kind{"xterm-256color", "", "167"}, Kind{"xterm", "", "1"},
                 Kind{"xterm-256color", "1", "default"}, Kind{"vt100", "", "default"});
    Job job;
    job.marks(1).set_light(0, kRed);
    Terminal terminal(24, 80, pmarray(job), {{"TERM", kind.term}, {"NO_COLOR", kind.no_color}});
    REQUIRE(shows_array(terminal));
    const auto [line, column] = terminal.find("this is task 1");
    CHECK(color_of(terminal.cell(line, column - 6)) == kind.light);
}

TEST_CASE("shapes without UTF-8") {
    Job job;
    job.marks(1).set_text("größer");
    Terminal terminal(24, 80, pmarray(job), {{"LC_ALL", "C"}});
    REQUIRE(shows_array(terminal));
    CHECK(terminal.find("g...w this is task 2").first >= 0);
    CHECK(terminal.find("gr??er").first >= 0);
    for (const char c : terminal.text()) CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("any size, without garbage") {
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    struct {
        int lines;
        int columns;
    } constexpr kSizes[] = {{5, 20},  {60, 200}, {1, 1},   {2, 3},
                            {24, 80}, {1, 80},   {40, 10}, {24, 80}};
    for (const auto& size : kSizes) {
        terminal.resize(size.lines, size.columns);
        terminal.signal(SIGWINCH);
        terminal.settle();
    }
    REQUIRE(terminal.wait_until([&] { return terminal.find("? help").first == 23; }));
    CHECK(terminal.find("TASK").first == 1);
    CHECK(terminal.find("this is task 3").first == 5);
    for (int line = 6; line < 23; ++line) CHECK(terminal.line(line).empty());
}

TEST_CASE("keys, a repaint, and a stop") {
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    terminal.type("?");
    REQUIRE(terminal.wait_for("the task before, after"));
    terminal.type("q\033OB\r");
    REQUIRE(terminal.wait_for("1 of 4"));
    terminal.type("q/task 3\r");
    REQUIRE(terminal.wait_until([&] {
        const auto [line, column] = terminal.find("this is task 3");
        return line >= 0 && terminal.cell(line, column).attrs.reverse != 0;
    }));
    terminal.type("frank=0-1\r");
    REQUIRE(terminal.wait_for("[rank=0-1: 2 of 4]"));
    REQUIRE(terminal.wait_until([&] { return terminal.find("this is task 3").first < 0; }));
    terminal.settle();
    const std::size_t before = terminal.bytes();
    terminal.type("\x0c");
    REQUIRE(terminal.wait_until([&] { return terminal.bytes() > before + 300; }));
    REQUIRE(terminal.wait_until([&] { return terminal.find("this is task 1").first == 3; }));
    terminal.type("\033");
    REQUIRE(terminal.wait_for("this is task 3"));
    terminal.type("p[");
    REQUIRE(terminal.wait_for(" ago]"));
    // Ctrl-Z gives the terminal back, and fg takes it again.
    terminal.type("\x1a");
    // Stopped, not only about to be: it would go on before it stands.
    REQUIRE(terminal.wait_until_stopped());
    REQUIRE(terminal.wait_until([&] { return !terminal.on_other_screen(); }));
    CHECK(terminal.cursor_visible());
    terminal.signal(SIGCONT);
    REQUIRE(terminal.wait_until([&] { return terminal.on_other_screen(); }));
    REQUIRE(terminal.wait_for("this is task 3"));
    terminal.type("\x03");
    CHECK(terminal.end() == 0);
}

TEST_CASE("what a task has written last is among its details") {
    Terminal job(24, 80,
                 {POE_BIN "/poe", "/bin/sh", "-c",
                  "echo first of $MP_CHILD; echo last of $MP_CHILD >&2; read line", "-procs", "2"});
    REQUIRE(job.wait_for("last of 0"));
    REQUIRE(job.wait_for("last of 1"));
    Terminal terminal(24, 80, {POE_BIN "/pmarray", std::to_string(job.pid())});
    REQUIRE(terminal.wait_for("TASK"));
    terminal.type("\033OB\r");
    REQUIRE(terminal.wait_for("first of 1"));
    CHECK(terminal.wait_for("last of 1"));
    CHECK(terminal.find("first of 0").first < 0);
    job.type("\n");
    CHECK(job.end() == 0);
}

TEST_CASE("a job that tasks have started is part of its job in the list") {
    Job job;
    const FakeJob spawned(pm::kJobDirectoryParent, job.id() + "-s1", 3);
    Terminal terminal(24, 120, pmarray(job));
    REQUIRE(shows_array(terminal));
    terminal.type("L");
    REQUIRE(terminal.wait_for("DIRECTORY"));
    REQUIRE(terminal.wait_for(job.id() + "  7"));
    CHECK(terminal.find(job.id() + "-s1").first < 0);
    terminal.type("\x03");
    CHECK(terminal.end() == 0);
}

TEST_CASE("a terminal that takes nothing delays nobody, and costs no memory") {
    constexpr long kFrames = 40;
    constexpr long kMostGrowth = 16 << 10;  // in KB
    Job job;
    Terminal terminal(24, 80, pmarray(job));
    REQUIRE(shows_array(terminal));
    const auto status = [&](const std::string& name) {
        std::ifstream file("/proc/" + std::to_string(terminal.pid()) + "/status");
        std::string word;
        long value = -1;
        while (file >> word)
            if (word == name + ":" && file >> value) break;
        return value;
    };
    // From here on nobody reads, and everything changes all the time.
    const auto change = [&](unsigned round) {
        for (unsigned task = 0; task < 4; ++task) {
            job.marks(task).set_text(std::string(70, static_cast<char>('a' + round % 26)));
            for (std::size_t light = 0; light < 5; ++light)
                job.marks(task).set_light(light, static_cast<std::uint8_t>((round + light) % 99));
        }
    };
    const long frames = status("voluntary_ctxt_switches");
    const long memory = status("VmRSS");
    REQUIRE(frames >= 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    unsigned rounds = 0;
    // It looks at the job as before, whether it can draw or not: a write that waits would stop it.
    while (status("voluntary_ctxt_switches") < frames + kFrames &&
           std::chrono::steady_clock::now() < deadline)
        for (int i = 0; i < 1000; ++i) change(rounds++);
    CHECK(status("voluntary_ctxt_switches") >= frames + kFrames);
    CHECK(status("VmRSS") < memory + kMostGrowth);
    // Who reads again sees the present, not all pictures since.
    const std::size_t before = terminal.bytes();
    job.marks(3).set_text("the present");
    REQUIRE(terminal.wait_for("the present"));
    CHECK(terminal.bytes() - before < 64 << 10);
}

TEST_CASE("an unknown terminal is an error that says so") {
    Job job;
    Terminal terminal(24, 80, pmarray(job), {{"TERM", "no-such-terminal"}});
    const int status = terminal.end();
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(terminal.text().find("TERM=no-such-terminal") != std::string::npos);
}
