// The prompt as a dialogue in text: what goes in, what is shown, which steps come out.
#include "poe/program_prompt.hpp"

#include <deque>
#include <string>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/unique_fd.hpp"

using namespace poe;
using namespace poe::cli;

namespace {

// A terminal or a pipe with lines in it, and what was shown on it.
struct Dialogue {
    std::deque<std::string> lines;
    std::string shown;
    bool interactive = true;
};

Options options_for(ProgramModel model, bool newjob) {
    Options options;
    options.program_model = model;
    options.newjob = newjob;
    return options;
}

pm::TaskMap map_of(std::size_t tasks) {
    return {{"home"}, std::vector<NodeIndex>(tasks, 0)};
}

ProgramPrompt prompt_on(Dialogue& dialogue, const Options& options, std::size_t tasks) {
    return ProgramPrompt(
        options, map_of(tasks), std::nullopt, dialogue.interactive,
        [&dialogue]() -> std::optional<std::string> {
            if (dialogue.lines.empty()) return std::nullopt;
            std::string line = dialogue.lines.front();
            dialogue.lines.pop_front();
            return line;
        },
        [&dialogue](std::string_view text) { dialogue.shown += text; });
}

ProgramPrompt prompt_from_file(const std::string& text, const Options& options, std::size_t tasks) {
    auto file = pm::parse_commands_file(text, "jobs");
    REQUIRE(file.ok());
    return ProgramPrompt(
        options, map_of(tasks), file.value(), true,
        []() -> std::optional<std::string> {
            FAIL("standard input was read");
            return std::nullopt;
        },
        [](std::string_view) { FAIL("something was shown"); });
}

// "a x | b" per step of task commands, " || " between steps, then "end" or "error: ...".
std::string run(ProgramPrompt& prompt) {
    std::string out;
    for (;;) {
        const auto step = prompt.next();
        if (!step) return out + "error: " + step.error().str();
        if (!step.value()) return out + "end";
        const JobStep& job = *step.value();
        for (std::size_t task = 0; task < job.command_of_task.size(); ++task) {
            if (task > 0) out += " | ";
            const auto& words = job.commands.at(job.command_of_task[task]);
            for (std::size_t i = 0; i < words.size(); ++i) out += (i > 0 ? " " : "") + words[i];
        }
        out += " || ";
    }
}

std::string run_dialogue(Dialogue& dialogue, ProgramModel model, bool newjob, std::size_t tasks) {
    auto prompt = prompt_on(dialogue, options_for(model, newjob), tasks);
    return run(prompt);
}

std::string run_file(const std::string& text, ProgramModel model, bool newjob, std::size_t tasks) {
    auto prompt = prompt_from_file(text, options_for(model, newjob), tasks);
    return run(prompt);
}

constexpr auto kSpmd = ProgramModel::kSpmd;
constexpr auto kMpmd = ProgramModel::kMpmd;

}  // namespace

TEST_CASE("a program on the command line is the step", "[prompt]") {
    Dialogue dialogue{{"other"}, "", true};
    Options options = options_for(kSpmd, false);
    options.program = {"prog", "-x"};
    auto prompt = prompt_on(dialogue, options, 2);
    CHECK(run(prompt) == "prog -x | prog -x || end");
    CHECK(dialogue.shown.empty());
    CHECK(dialogue.lines.size() == 1);
}

TEST_CASE("with newjob it is the first step", "[prompt]") {
    Dialogue dialogue{{"other", "quit", "never"}, "", true};
    Options options = options_for(kSpmd, true);
    options.program = {"prog"};
    auto prompt = prompt_on(dialogue, options, 1);
    CHECK(run(prompt) == "prog || other || end");
    CHECK(dialogue.shown == "Enter program name (or quit): Enter program name (or quit): ");
    CHECK(dialogue.lines.size() == 1);
}

TEST_CASE("spmd dialogue", "[prompt]") {
    Dialogue one{{"./ring 'two words'", "rest"}, "", true};
    CHECK(run_dialogue(one, kSpmd, false, 2) == "./ring two words | ./ring two words || end");
    CHECK(one.shown == "Enter program name (or quit): ");
    CHECK(one.lines.size() == 1);  // what follows is the tasks' input

    Dialogue steps{{"a", "", "! comment", "b \"x", "b", "quit"}, "", true};
    CHECK(run_dialogue(steps, kSpmd, true, 1) == "a || b || end");
    CHECK(steps.shown ==
          "Enter program name (or quit): "
          "Enter program name (or quit): "
          "ERROR: no program on the line; expected a program and its arguments, or quit\n"
          "Enter program name (or quit): "
          "ERROR: no program on the line; expected a program and its arguments, or quit\n"
          "Enter program name (or quit): "
          "ERROR: standard input:4:3: the quote \" has no end on its line; expected another \", or "
          "\\\" "
          "for the character\n"
          "Enter program name (or quit): "
          "Enter program name (or quit): ");

    Dialogue quit{{"quit"}, "", true};
    CHECK(run_dialogue(quit, kSpmd, false, 1) == "end");
    Dialogue closed{{}, "", true};
    CHECK(run_dialogue(closed, kSpmd, false, 1) == "end");
    CHECK(closed.shown == "Enter program name (or quit): \n");
}

TEST_CASE("spmd from a pipe: no prompts, and mistakes end it", "[prompt]") {
    Dialogue steps{{"", "a", "# comment", "b c"}, "", false};
    CHECK(run_dialogue(steps, kSpmd, true, 1) == "a || b c || end");
    CHECK(steps.shown.empty());
    Dialogue bad{{"a", "b \\"}, "", false};
    CHECK(run_dialogue(bad, kSpmd, true, 1) ==
          "a || error: standard input:2:3: a backslash at the end of the command; write \\\\ for a "
          "backslash; a command is one line");
    Dialogue empty{{}, "", false};
    CHECK(run_dialogue(empty, kSpmd, false, 1) ==
          "error: poe: no program to run; expected one on the command line, in -cmdfile, or on "
          "standard "
          "input");
    Dialogue quit{{"quit"}, "", false};
    CHECK(run_dialogue(quit, kSpmd, false, 1) == "end");
}

TEST_CASE("mpmd dialogue", "[prompt]") {
    Dialogue one{{"server", "", "client 1", "client 2", "rest"}, "", true};
    CHECK(run_dialogue(one, kMpmd, false, 3) == "server | client 1 | client 2 || end");
    CHECK(one.shown ==
          "0:home> 1:home> ERROR: no program on the line; expected a program and its arguments, or "
          "quit\n1:home> 2:home> Partition loaded...\n");
    CHECK(one.lines.size() == 1);

    Dialogue steps{{"a", "b", "c", "d", "quit"}, "", true};
    CHECK(run_dialogue(steps, kMpmd, true, 2) == "a | b || c | d || end");

    Dialogue quit{{"a", "quit"}, "", true};
    CHECK(run_dialogue(quit, kMpmd, false, 2) == "end");
    Dialogue closed{{"a"}, "", true};
    CHECK(run_dialogue(closed, kMpmd, false, 2) ==
          "error: standard input: commands for 1 of 2 tasks; expected one line for each task "
          "(-pgmmodel "
          "mpmd), or -procs 1");
}

TEST_CASE("equal commands are kept once", "[prompt]") {
    auto prompt = prompt_from_file("a 1\nb\na 1\n", options_for(kMpmd, false), 3);
    const auto step = prompt.next();
    REQUIRE(step.ok());
    REQUIRE(step.value().has_value());
    CHECK(step.value()->commands == std::vector<pm::Command>{{"a", "1"}, {"b"}});
    CHECK(step.value()->command_of_task == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE("commands files", "[prompt]") {
    CHECK(run_file("a 1\n! no\n\nb 2", kMpmd, false, 2) == "a 1 | b 2 || end");
    CHECK(run_file("a\nb\nc\nd\n", kMpmd, true, 2) == "a | b || c | d || end");
    CHECK(run_file("a\nb\nquit\nd\n", kMpmd, true, 2) == "a | b || end");
    CHECK(run_file("a\nb\n", kSpmd, true, 2) == "a | a || b | b || end");
    CHECK(run_file("a\n", kMpmd, false, 3) ==
          "error: jobs: commands for 1 of 3 tasks; expected one line for each task (-pgmmodel "
          "mpmd), or "
          "-procs 1");
    CHECK(run_file("a\nb\nc\n", kMpmd, true, 2) ==
          "a | b || error: jobs: commands for 1 of 2 tasks in job step 2; expected one line for "
          "each task "
          "(-pgmmodel mpmd)");
    CHECK(run_file("! nothing\n", kSpmd, false, 1) ==
          "error: jobs: there is no command in the commands file; expected a program and its "
          "arguments "
          "on a line");
    CHECK(
        run_file("", kMpmd, false, 2) ==
        "error: jobs: commands for 0 of 2 tasks; expected one line for each task (-pgmmodel mpmd)");
}

TEST_CASE("lines that nobody uses are told", "[prompt]") {
    auto prompt = prompt_from_file("a\n\nb\nc\n", options_for(kSpmd, false), 1);
    CHECK(run(prompt) == "a || end");
    const auto notices = prompt.take_notices();
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].text ==
          "jobs:3: 2 commands from here on ignored: no further job steps without -newjob yes");
    CHECK(prompt.take_notices().empty());
}

TEST_CASE("poe's flags on a line", "[prompt]") {
    CHECK(run_file("a -procs 4\n", kSpmd, false, 1) ==
          "error: jobs:1: -procs is a flag of poe for the whole job, not for one line; put it on "
          "poe's "
          "command line; if the program has such a flag, use MP_NOARGLIST=yes or MP_FENCE");
    CHECK(run_file("-procs 4 a\n", kSpmd, false, 1) ==
          "error: jobs:1: \"-procs\" is not a program; expected a program, then its arguments");
    CHECK(run_file("''\n", kSpmd, false, 1) ==
          "error: jobs:1: \"\" is not a program; expected a program, then its arguments");
    CHECK(run_file("a -tlevel\n", kSpmd, false, 1) ==
          "error: jobs:1: -tlevel: its value is missing; expected 0, 1, 2, 3 or 9");
    CHECK(run_file("a --procs -x -h\n", kSpmd, false, 1) == "a --procs -x -h || end");

    auto traced = prompt_from_file("a -tlevel 9 x\n", options_for(kSpmd, false), 1);
    CHECK(run(traced) == "a x || end");
    const auto notices = traced.take_notices();
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].text ==
          "jobs:1: -tlevel is ignored: this flag holds for the whole job; give it on the command "
          "line");

    Options noarglist = options_for(kSpmd, false);
    noarglist.noarglist = true;
    auto passed = prompt_from_file("a -procs 4\n", noarglist, 1);
    CHECK(run(passed) == "a -procs 4 || end");

    Options fence = options_for(kSpmd, false);
    fence.fence = "F";
    auto fenced = prompt_from_file("a F -procs 4\n", fence, 1);
    CHECK(run(fenced) == "a -procs 4 || end");
    auto nothing = prompt_from_file("F\n", fence, 1);
    CHECK(run(nothing) == "error: jobs:1: no program on the line; expected one after the fence");
}

TEST_CASE("lines of a descriptor take no byte too many", "[prompt]") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const std::string text = "first\nsecond\n\nlast";
    REQUIRE(::write(writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    const auto lines = lines_of(reader.get());
    CHECK(lines() == "first");
    char byte = 0;
    REQUIRE(::read(reader.get(), &byte, 1) == 1);
    CHECK(byte == 's');
    writer.reset();
    CHECK(lines() == "econd");
    CHECK(lines() == "");
    CHECK(lines() == "last");
    CHECK(lines() == std::nullopt);
}
