// NodeGdb against a gdb that this test plays: what is written, and what is concluded from the
// answers.
#include "debugger/node_gdb.hpp"

#include <utility>

#include <catch2/catch.hpp>

namespace poe::debugger {

namespace {

using Life = DebuggedTask::Life;

class PlayedGdb {
  public:
    explicit PlayedGdb(int tasks, bool at_start = false)
        : gdb({[this](const std::string& bytes) { take(bytes); },
               [this](DebuggedTask& task) { stopped.push_back(task.task); },
               [this](DebuggedTask& task) { ended.push_back(task.task); },
               [this] { ++attached; }}) {
        std::vector<DebuggedTask> list;
        for (int i = 0; i < tasks; ++i) {
            DebuggedTask task;
            task.task = 10 + i;
            task.pid = 100 + i;
            list.push_back(task);
        }
        gdb.attach(list, at_start);
    }

    void take(const std::string& bytes) {
        REQUIRE(bytes.back() == '\n');
        const std::size_t digits = bytes.find('-');
        written.emplace_back(bytes.substr(0, digits),
                             bytes.substr(digits, bytes.size() - digits - 1));
    }
    void say(const std::string& line) { gdb.feed(line + "\n"); }
    // Answers the first command that begins so and has not been answered.
    void answer(const std::string& beginning, const std::string& result) {
        for (auto& [token, command] : written) {
            if (token.empty() || !command.starts_with(beginning)) continue;
            say(std::exchange(token, "") + result);
            return;
        }
        FAIL("no command begins with " << beginning);
    }
    // What gdb answers when it has made an internal breakpoint at the function for these inferiors.
    void make_internal(const std::string& function, const std::string& printed) {
        say("~\"Function \\\"somewhere\\\" not defined.\\n\"");
        say("~\"start breakpoint " + printed + "\\n\"");
        answer(internal_breakpoint_command(function, 0), "^done");
        say("(gdb) ");
    }
    bool has_written(const std::string& beginning) const {
        for (const auto& [token, command] : written)
            if (!token.empty() && command.starts_with(beginning)) return true;
        return false;
    }
    void attach_all() {
        for (std::size_t i = 0; i < gdb.tasks().size(); ++i) {
            const std::string number = std::to_string(i + 1);
            say("=thread-created,id=\"" + number + "\",group-id=\"i" + number + "\"");
            answer("-target-attach", "^done");
            say("*stopped,frame={func=\"poll\"},thread-id=\"" + number + "\",stopped-threads=[\"" +
                number + "\"]");
        }
    }

    std::vector<std::pair<std::string, std::string>> written;
    std::vector<TaskId> stopped;
    std::vector<TaskId> ended;
    int attached = 0;
    NodeGdb gdb;
};

}  // namespace

TEST_CASE("each task becomes an inferior") {
    PlayedGdb play(2);
    CHECK(play.has_written("-gdb-set non-stop on"));
    CHECK(play.has_written("-add-inferior"));
    CHECK(play.has_written("-target-attach --thread-group i1 100"));
    play.attach_all();
    CHECK(play.attached == 1);
    CHECK(play.stopped == std::vector<TaskId>{10, 11});
    CHECK(play.gdb.tasks()[1].stopped);
}

TEST_CASE("a task that cannot be attached is lost, with gdb's reason") {
    PlayedGdb play(2);
    play.answer("-target-attach", "^error,msg=\"ptrace: Operation not permitted.\"");
    play.answer("-target-attach", "^done");
    CHECK(play.attached == 0);
    play.say("~\"2\\n\"");
    play.answer("-interpreter-exec console \"python print(open('/proc/sys/kernel/yama", "^done");
    CHECK(play.attached == 1);
    CHECK(play.gdb.tasks()[0].life == Life::kLost);
    CHECK(play.gdb.tasks()[0].note.find("debugging to root only") != std::string::npos);
    CHECK(play.ended == std::vector<TaskId>{10});
}

TEST_CASE("a task stops as a whole when one of its threads stops") {
    PlayedGdb play(1);
    play.attach_all();
    play.stopped.clear();
    play.say("=thread-created,id=\"2\",group-id=\"i1\"");
    play.gdb.resume(play.gdb.tasks()[0], "-exec-continue");
    play.say("*running,thread-id=\"1\"");
    play.say("*running,thread-id=\"2\"");
    play.say(
        "*stopped,reason=\"breakpoint-hit\",bkptno=\"3\",frame={func=\"work\"},thread-id=\"2\"");
    CHECK(play.stopped.empty());
    CHECK(play.has_written("-exec-interrupt --thread-group i1"));
    play.say(
        "*stopped,reason=\"signal-received\",signal-name=\"0\",frame={func=\"poll\"},thread-id="
        "\"1\"");
    CHECK(play.stopped == std::vector<TaskId>{10});
    const DebuggedTask& task = play.gdb.tasks()[0];
    CHECK(task.thread == 2);
    CHECK(task.reason.kind == StopReason::Kind::kBreakpoint);
    CHECK(task.reason.breakpoint == 3);
    CHECK(task.where.text_of("func") == "work");
}

TEST_CASE("a thread that begins while its task is being stopped is interrupted, too") {
    PlayedGdb play(1);
    play.attach_all();
    DebuggedTask& task = play.gdb.tasks()[0];
    play.gdb.resume(task, "-exec-continue");
    play.say("*running,thread-id=\"1\"");
    play.gdb.interrupt(task);
    play.answer("-exec-interrupt --thread-group i1", "^done");
    play.say("=thread-created,id=\"2\",group-id=\"i1\"");
    play.say("*running,thread-id=\"2\"");
    play.answer("-exec-interrupt --thread-group i1", "^done");
    play.stopped.clear();
    play.say("*stopped,reason=\"signal-received\",signal-name=\"0\",thread-id=\"1\"");
    CHECK(play.stopped.empty());
    play.gdb.interrupt(task);  // the user insists
    play.answer("-exec-interrupt --thread-group i1", "^done");
    play.say("*stopped,reason=\"signal-received\",signal-name=\"0\",thread-id=\"2\"");
    CHECK(play.stopped == std::vector<TaskId>{10});
}

TEST_CASE("a task that gdb stops without a cause continues") {
    PlayedGdb play(1);
    play.attach_all();
    DebuggedTask& task = play.gdb.tasks()[0];
    play.gdb.resume(task, "-exec-continue");
    play.answer("-exec-continue --thread-group i1", "^running");
    play.say("*running,thread-id=\"1\"");
    play.stopped.clear();
    play.say(
        "*stopped,reason=\"signal-received\",signal-name=\"0\",frame={func=\"arch_fork\"},"
        "thread-id=\"1\"");
    CHECK(play.stopped.empty());
    play.answer("-exec-continue --thread 1", "^running");
    play.say("*stopped,frame={func=\"arch_fork\"},thread-id=\"1\"");
    CHECK(play.stopped.empty());
    play.answer("-exec-continue --thread 1", "^running");
    // The same stop, if somebody has asked for it.
    play.gdb.interrupt(task);
    play.say("*stopped,reason=\"signal-received\",signal-name=\"0\",thread-id=\"1\"");
    CHECK(play.stopped == std::vector<TaskId>{10});
    CHECK_FALSE(play.has_written("-exec-continue --thread 1"));
    // A signal that the user has caught: gdb names no cause.
    play.stopped.clear();
    play.gdb.command("-interpreter-exec console \"catch signal SIGURG\"");
    play.gdb.resume(task, "-exec-continue");
    play.say("*running,thread-id=\"1\"");
    play.say("*stopped,frame={func=\"kill\"},thread-id=\"1\"");
    CHECK(play.stopped == std::vector<TaskId>{10});
}

TEST_CASE("a step lets the other threads continue") {
    PlayedGdb play(1);
    play.attach_all();
    play.say("=thread-created,id=\"2\",group-id=\"i1\"");
    play.say("*stopped,thread-id=\"2\"");
    play.gdb.resume(play.gdb.tasks()[0], "-exec-next 3");
    CHECK(play.has_written("-exec-continue --thread 2"));
    CHECK(play.has_written("-exec-next --thread 1 3"));
}

TEST_CASE("tasks that are held go to main, and leave its breakpoint behind") {
    PlayedGdb play(2, true);
    play.attach_all();
    CHECK(play.stopped.empty());
    play.make_internal("MAIN__", "-7");
    play.make_internal("main", "-8 1");
    // The second program has no symbols.
    CHECK(play.stopped == std::vector<TaskId>{11});
    CHECK(play.gdb.tasks()[1].note.find("no symbols") != std::string::npos);
    CHECK(play.has_written("-exec-continue --thread-group i1"));
    CHECK_FALSE(play.has_written("-exec-continue --thread-group i2"));
    CHECK(play.has_written("-interpreter-exec console \"handle SIGSTOP nostop noprint nopass\""));
    play.say("*running,thread-id=\"1\"");
    play.say(
        "*stopped,reason=\"breakpoint-hit\",bkptno=\"-8\",frame={func=\"main\"},thread-id=\"1\"");
    CHECK(play.stopped == std::vector<TaskId>{11, 10});
    CHECK(play.has_written(delete_command({-8, {}})));
    CHECK_FALSE(play.has_written(delete_command({-7, {}})));  // gdb has deleted it itself
    CHECK(play.attached == 1);
}

TEST_CASE("a gdb without Python stops the tasks by ordinary breakpoints") {
    PlayedGdb play(2, true);
    play.attach_all();
    const std::string none =
        "^error,msg=\"Python scripting is not supported in this copy of GDB.\"";
    play.answer(internal_breakpoint_command("MAIN__", 0), none);
    play.answer("-break-insert --qualified MAIN__", "^error,msg=\"no\"");
    play.answer(internal_breakpoint_command("main", 0), none);
    play.answer(
        "-break-insert --qualified main",
        "^done,bkpt={number=\"1\",locations=[{number=\"1.1\",thread-groups=[\"i1\"]},{number="
        "\"1.2\",thread-groups=[\"i2\"]}]}");
    for (const char* thread : {"1", "2"}) {
        play.say("*running,thread-id=\"" + std::string(thread) + "\"");
        play.say(
            "*stopped,reason=\"breakpoint-hit\",bkptno=\"1\",frame={func=\"main\"},thread-id=\"" +
            std::string(thread) + "\"");
    }
    CHECK(play.stopped == std::vector<TaskId>{10, 11});
    CHECK(play.has_written("-break-delete 1"));
    CHECK(play.attached == 1);
}

TEST_CASE("a gdb is ready when the last task is, although another one has ended before") {
    PlayedGdb play(2, true);
    play.answer("-target-attach", "^done");
    play.say("=thread-group-exited,id=\"i1\",exit-code=\"01\"");
    CHECK(play.ended == std::vector<TaskId>{10});
    CHECK(play.attached == 0);
    play.answer("-target-attach", "^error,msg=\"gone\"");
    CHECK(play.attached == 1);
}

TEST_CASE("the daemon tells the end of a task whose gdb has gone") {
    PlayedGdb play(3);
    play.attach_all();
    play.gdb.on_exit(10, "ended with code 3", true);
    CHECK(play.ended.empty());  // gdb will report it
    play.gdb.on_gone("detached");
    CHECK(play.gdb.tasks()[0].note == "ended with code 3");
    CHECK(play.gdb.tasks()[0].life == Life::kEnded);
    CHECK(play.gdb.tasks()[0].failed);
    CHECK(play.gdb.tasks()[1].note == "detached");
    play.gdb.on_exit(11, "was killed by SIGTRAP", true);
    CHECK(play.gdb.tasks()[1].note == "was killed by SIGTRAP");
    CHECK(play.gdb.tasks()[1].failed);
    CHECK(play.ended == std::vector<TaskId>{10, 11, 12, 11});
}

TEST_CASE("a Fortran program is stopped at its own main program") {
    PlayedGdb play(1, true);
    play.attach_all();
    play.make_internal("MAIN__", "-7 1");
    play.make_internal("main", "-8 1");
    play.say("*running,thread-id=\"1\"");
    play.say(
        "*stopped,reason=\"breakpoint-hit\",bkptno=\"-8\",frame={func=\"main\"},thread-id=\"1\"");
    CHECK(play.stopped.empty());
    play.say("*running,thread-id=\"1\"");
    play.say(
        "*stopped,reason=\"breakpoint-hit\",bkptno=\"-7\",frame={func=\"MAIN__\"},thread-id=\"1\"");
    CHECK(play.stopped == std::vector<TaskId>{10});
}

TEST_CASE("ends are told apart") {
    PlayedGdb play(3);
    play.attach_all();
    play.say("=thread-group-exited,id=\"i1\",exit-code=\"03\"");
    play.say("*stopped,reason=\"exited\",exit-code=\"03\"");
    CHECK(play.gdb.tasks()[0].note == "ended with code 3");
    CHECK(play.gdb.tasks()[0].failed);
    play.say("=thread-group-exited,id=\"i2\"");
    play.say(
        "*stopped,reason=\"exited-signalled\",signal-name=\"SIGKILL\",signal-meaning=\"Killed\"");
    CHECK(play.gdb.tasks()[1].note == "was killed by SIGKILL");
    play.gdb.on_gone("gdb was killed by SIGKILL");
    CHECK(play.gdb.tasks()[2].life == Life::kLost);
    CHECK(play.ended == std::vector<TaskId>{10, 11, 12});
}

TEST_CASE("commands are answered by token, with what gdb printed") {
    PlayedGdb play(1);
    play.attach_all();
    std::vector<std::string> answers;
    const auto keep = [&](const GdbAnswer& answer) {
        answers.push_back(answer.ok ? answer.console : "error " + answer.error);
    };
    play.gdb.console(play.gdb.tasks()[0], "output x", keep);
    play.gdb.console(play.gdb.tasks()[0], "output y", keep);
    CHECK(play.has_written("-interpreter-exec --thread 1 --frame 0 console \"output x\""));
    play.say("~\"5\"");
    play.answer("-interpreter-exec --thread 1 --frame 0 console \"output x\"", "^done");
    play.say("(gdb) ");
    play.answer("-interpreter-exec --thread 1 --frame 0 console \"output y\"",
                "^error,msg=\"No y.\"");
    CHECK(answers == std::vector<std::string>{"5", "error No y."});
    // If gdb ends, commands that are not answered get an error.
    play.gdb.console(play.gdb.tasks()[0], "output z", keep);
    play.gdb.on_gone("gone");
    CHECK(answers.back() == "error gone");
    play.gdb.command("-x", keep);
    CHECK(answers.size() == 4);
}

}  // namespace poe::debugger
