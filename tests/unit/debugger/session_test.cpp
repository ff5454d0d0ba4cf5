// Session against a gdb that this test plays: what a command line does when gdb refuses, is slow,
// or is interrupted. Sessions with a real gdb are in tests/multiproc/poe_pdbx*.py.
#include "debugger/session.hpp"

#include <utility>

#include <catch2/catch.hpp>

namespace poe::debugger {

namespace {

// A job of tasks of one node, to which pdbx has attached. All tasks are stopped. Task t is process
// 100 + t.
class PlayedJob {
  public:
    explicit PlayedJob(int tasks)
        : session({[this](const pm::Message& message, NodeIndex) { take(message); },
                   [this](const Report& report) {
                       for (const std::string& line : lines_of(report)) shown.push_back(line);
                   }}) {
        pm::DebuggedJob job;
        job.id = "job";
        job.nodes = {"here"};
        job.node_of_task.assign(static_cast<std::size_t>(tasks), 0);
        session.on_message(0, job, {});
        pm::DebuggerStarted started;
        for (int task = 0; task < tasks; ++task) started.tasks.push_back({task, 100 + task, {}});
        session.on_message(0, started, {});
        for (const char* setting : {"-gdb-set", "-add-inferior"})
            while (has_written(setting)) answer(setting, "^done");
        for (int number = 1; number <= tasks; ++number) {
            const std::string id = "\"" + std::to_string(number) + "\"";
            say("=thread-created,id=" + id + ",group-id=\"i" + std::to_string(number) + "\"");
            answer("-target-attach", "^done");
            stop(number);
        }
        shown.clear();
    }

    void say(const std::string& line) {
        session.on_message(0, pm::DebuggerOutput{line + "\n"}, {});
    }
    void stop(int inferior) {
        const std::string id = "\"" + std::to_string(inferior) + "\"";
        say("*stopped,frame={func=\"poll\"},thread-id=" + id + ",stopped-threads=[" + id + "]");
    }
    // Answers the first command that has this in it and has not been answered.
    void answer(const std::string& part, const std::string& result) {
        for (auto& [token, command] : written) {
            if (token.empty() || command.find(part) == std::string::npos) continue;
            return say(std::exchange(token, "") + result);
        }
        FAIL("no command has " << part);
    }
    bool has_written(const std::string& part) const {
        for (const auto& [token, command] : written)
            if (!token.empty() && command.find(part) != std::string::npos) return true;
        return false;
    }
    std::vector<std::string> execute(const std::string& line) {
        shown.clear();
        session.execute(line, {});
        return shown;
    }

    std::vector<std::string> shown;
    std::vector<int> interrupted;  // the processes; 0: gdb
    Session session;

  private:
    void take(const pm::Message& message) {
        if (const auto* interrupt = std::get_if<pm::InterruptCommand>(&message))
            interrupted.push_back(interrupt->pid);
        const auto* input = std::get_if<pm::DebuggerInput>(&message);
        if (input == nullptr) return;
        const std::size_t digits = input->bytes.find('-');
        written.emplace_back(input->bytes.substr(0, digits),
                             input->bytes.substr(digits, input->bytes.size() - digits - 1));
    }

    std::vector<std::pair<std::string, std::string>> written;
};

using Lines = std::vector<std::string>;

constexpr const char* kSignaled =
    R"(^error,msg="The program being debugged was signaled while in a function called from GDB.")";

}  // namespace

TEST_CASE("one Ctrl-C ends a function in each task that executes it") {
    PlayedJob job(3);
    job.execute("print forever()");
    job.session.interrupt({});
    CHECK(job.interrupted == std::vector<int>{100});
    job.answer("forever", kSignaled);
    CHECK(job.interrupted == std::vector<int>{100, 101});
    job.answer("forever", kSignaled);
    job.answer("forever", R"(^error,msg="Quit")");
    CHECK(job.shown.back() == "0-2: interrupted");
    CHECK(job.interrupted == std::vector<int>{100, 101, 102});
    CHECK_FALSE(job.session.busy());
}

TEST_CASE("an interrupt that comes too early is repeated until gdb has answered") {
    PlayedJob job(2);
    job.execute("print forever()");
    CHECK_FALSE(job.session.deadline());
    job.session.interrupt({});
    Session::Time now = job.session.deadline().value();
    job.session.tick(now);
    CHECK(job.interrupted == std::vector<int>{100, 100});
    job.answer("forever", "^done");
    now = job.session.deadline().value();
    job.session.tick(now);
    CHECK(job.interrupted == std::vector<int>{100, 100, 101});
    job.answer("forever", "^done");
    job.session.tick(now + kInterruptAgain);
    CHECK(job.interrupted == std::vector<int>{100, 100, 101});
    CHECK_FALSE(job.session.deadline());
}

TEST_CASE("an abandoned command is interrupted in the tasks that come to it later") {
    PlayedJob job(2);
    job.execute("print forever()");
    job.session.interrupt({});
    job.session.interrupt({});
    CHECK(job.interrupted == std::vector<int>{100, 0});
    CHECK_FALSE(job.session.busy());
    job.execute("print 1");
    job.answer("forever", kSignaled);
    job.answer("forever", kSignaled);
    CHECK(job.interrupted == std::vector<int>{100, 0, 101});  // and none for the next command
}

TEST_CASE("a breakpoint that is removed before gdb has made it is removed from gdb") {
    PlayedJob job(2);
    job.execute("break work");
    job.session.interrupt({});
    job.session.interrupt({});
    job.execute("delete");
    job.answer("-break-insert", R"(^done,bkpt={number="7",func="work",file="a.c",line="3"})");
    CHECK(job.has_written("-break-delete 7"));
    CHECK(job.execute("breakpoints") == Lines{"there are no breakpoints"});
}

TEST_CASE("an abandoned breakpoint keeps its number") {
    PlayedJob job(1);
    job.execute("break work");
    job.session.interrupt({});
    job.session.interrupt({});
    job.execute("break rest");
    job.answer("\"work\"", R"(^error,msg="No line 9 in file \"a.c\".")");
    job.shown.clear();
    job.answer("\"rest\"", R"(^done,bkpt={number="8",func="rest",file="a.c",line="3"})");
    CHECK(job.shown == Lines{"breakpoint 2: rest at a.c:3, task 0"});
}

TEST_CASE("a place that does not exist is an error of all tasks of the breakpoint") {
    PlayedJob job(3);
    job.execute("on 1,2 break a.c:99");
    job.answer("-break-insert", R"(^error,msg="No line 99 in file \"a.c\".")");
    CHECK(job.shown == Lines{"1,2: No line 99 in file \"a.c\"."});
    CHECK(job.execute("stop at") ==
          Lines{"error: stop has the forms stop at LINE, stop in FUNCTION and stop if CONDITION"});
}

TEST_CASE("tasks that run are left out with the consequence for the command") {
    PlayedJob job(3);
    job.execute("on 0,1 cont &");
    CHECK(job.execute("print 1") == Lines{"tasks 0,1 run and cannot answer"});
    job.answer("output 1", "^done");
    CHECK(job.execute("cont &") == Lines{"tasks 0,1 run already"});
    CHECK(job.execute("cont") == Lines{"error: tasks 0-2 run; stop them first (halt, or Ctrl-C)"});
}

TEST_CASE("a task that does not stop is interrupted again") {
    PlayedJob job(1);
    job.execute("cont &");
    job.say("*running,thread-id=\"1\"");
    job.execute("halt &");
    job.answer("-exec-interrupt", "^done");
    Session::Time now = Session::Time{} + kStopAgain;
    job.session.tick(now);
    job.answer("-exec-interrupt", "^done");
    now += kStopAgain;
    job.session.tick(now);
    job.answer("-exec-interrupt", "^done");
    job.stop(1);
    job.session.show_events();
    job.session.tick(now + kStopAgain);
    CHECK_FALSE(job.has_written("-exec-interrupt"));
    CHECK_FALSE(job.session.deadline());
}

TEST_CASE("a value that is too large has an advice") {
    PlayedJob job(1);
    job.execute("print a");
    job.answer("output a",
               R"(^error,msg="value requires 9 bytes, which is more than max-value-size")");
    CHECK(job.shown == Lines{"0: value requires 9 bytes, which is more than max-value-size; print "
                             "a part of the value, such as NAME[0]@100"});
}

TEST_CASE("a part of a variable that is gone has the same answer as the variable") {
    PlayedJob job(2);
    job.execute("print a.b");
    job.answer("output a.b", R"(^error,msg="value has been optimized out")");
    job.answer("output a.b", R"(^error,msg="value has been optimized out")");
    CHECK(job.shown == Lines{"0,1: <optimized out>"});
    CHECK_FALSE(job.session.had_error());
}

TEST_CASE("commands of the shell would take what is written to gdb") {
    PlayedJob job(1);
    for (const char* line : {"shell cat", "!cat", "! cat", "pipe print 1 | cat", "make", "edit"}) {
        const Lines said = job.execute(line);
        REQUIRE(said.size() == 1);
        CHECK(said.front().find("this command is not passed to gdb: a command of the shell") !=
              std::string::npos);
    }
}

}  // namespace poe::debugger
