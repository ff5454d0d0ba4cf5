// poestat's arguments and texts.
#include <cstdlib>
#include <ctime>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/contexts.hpp"
#include "poe/poestat_options.hpp"
#include "poe/poestat_text.hpp"

using namespace poe;
using namespace poe::cli;
using pm::TaskState;
using pm::TaskView;

namespace {

TaskView view_of(TaskId task) {
    TaskView view;
    view.state.task = task;
    view.state.life = TaskState::Life::kInside;
    view.state.pid = 4000 + task;
    view.process = pm::ProcessFacts{"prog", 'S', 1, 0, std::chrono::milliseconds(1234), 5 << 20};
    return view;
}

TaskView in_call(Call call, TaskId peer, std::int32_t type, Bytes bytes, std::uint32_t waits_ms) {
    TaskView view = view_of(0);
    view.state.doing = {call, peer, type, bytes, 1};
    view.state.waits_ms = waits_ms;
    return view;
}

pm::RunningJob job() {
    pm::RunningJob job;
    job.id = "abc-de-0";
    job.poe = 1234;
    job.tasks = 2;
    job.nodes = 1;
    job.elapsed = std::chrono::milliseconds(12300);
    job.programs = {"./prog"};
    job.directory = "/home/me";
    return job;
}

StatOptions options(const std::vector<std::string>& words) {
    const auto read = read_stat_options(words);
    REQUIRE(read);
    return read.value();
}

}  // namespace

TEST_CASE("poestat's arguments", "[poestat]") {
    CHECK(options({}).job.empty());
    CHECK(options({"abc-d-0", "-json"}).job == "abc-d-0");
    CHECK(options({"abc-d-0", "-json"}).json);
    CHECK(options({"--deadlock", "-a"}).deadlock);
    CHECK(options({"--deadlock", "-a"}).all_users);
    CHECK_FALSE(options({"x"}).every);
    CHECK(options({"-w", "x"}).every == std::chrono::seconds(2));
    CHECK(options({"-w", "5", "123"}).every == std::chrono::seconds(5));
    CHECK(options({"-w", "5", "123"}).job == "123");
    CHECK(options({"-h"}).request == StatOptions::Request::kHelp);
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"-z"}, {"--"}, {"-"}, {""}, {"a", "b"}, {"-w", "0"}, {"-jso"}}) {
        INFO(wrong[0]);
        CHECK_FALSE(read_stat_options(wrong));
    }
    CHECK(read_stat_options({"-deadlok"}).error().str().find("did you mean -deadlock?") !=
          std::string::npos);
}

namespace {

Call mpi_call(std::string_view name) {
    for (std::uint16_t number = kFirstMpiCall; number <= kLastCall; ++number)
        if (call_name(static_cast<Call>(number)) == name) return static_cast<Call>(number);
    return Call::kNone;
}

}  // namespace

TEST_CASE("what a task of MPI does, in words", "[poestat]") {
    TaskView view = in_call(mpi_call("MPI_Recv"), 3, 7, 4096, 12345);
    view.state.doing.context = kFirstMpiContext;
    CHECK(state_in_words(view) == "MPI_Recv from 3 tag 7, 4 KB in MPI_COMM_WORLD, 12.3 s");
    view.state.communicator = "mesh\x1b[2J";
    CHECK(state_in_words(view).find('\x1b') == std::string::npos);
    view = in_call(mpi_call("MPI_Allreduce_c"), -1, 5, 0, 0);
    view.state.doing.context = kFirstMpiContext + 5;
    CHECK(state_in_words(view) == "MPI_Allreduce_c in communicator 5");
    CHECK(state_in_words(in_call(mpi_call("MPI_Waitany"), -1, -1, 0, 0)) == "MPI_Waitany");
    CHECK(state_in_words(in_call(mpi_call("MPI_Ssend"), 1, 2, 8, 0)) ==
          "MPI_Ssend to 1 tag 2, 8 B");
}

TEST_CASE("kinds of calls", "[poestat]") {
    CHECK(is_collective(mpi_call("MPI_Comm_split")));
    CHECK(is_collective(mpi_call("MPI_Finalize")));
    CHECK_FALSE(is_collective(mpi_call("MPI_Ibarrier")));
    CHECK(call_kind(mpi_call("MPI_Ibarrier")) == CallKind::kStartsCollective);
    CHECK(call_kind(mpi_call("MPI_Comm_idup")) == CallKind::kStartsCollective);
    CHECK(call_kind(mpi_call("MPI_Mprobe")) == CallKind::kReceives);
    CHECK(call_kind(mpi_call("MPI_Isendrecv_replace_c")) == CallKind::kExchanges);
    CHECK(call_kind(mpi_call("MPI_Testsome")) == CallKind::kCompletes);
    CHECK(call_kind(mpi_call("MPI_Buffer_detach")) == CallKind::kFlushes);
    CHECK(call_kind(mpi_call("MPI_Comm_rank")) == CallKind::kOther);
    CHECK(call_kind(Call::kSync) == CallKind::kCollective);
    CHECK(call_name(static_cast<Call>(kLastCall)) == "?");
}

TEST_CASE("what a task does, in words", "[poestat]") {
    CHECK(state_in_words(view_of(0)) == "computing");
    CHECK(state_in_words(in_call(Call::kBrecv, 3, 7, 4096, 12345)) ==
          "mpc_brecv from 3 type 7, 4 KB, 12.3 s");
    CHECK(state_in_words(in_call(Call::kBrecv, -1, -1, 1, 0)) == "mpc_brecv from any, 1 B");
    CHECK(state_in_words(in_call(Call::kBsend, 3, 0, 1536, 61000)) ==
          "mpc_bsend to 3 type 0, 1.5 KB, 1:01");
    CHECK(state_in_words(in_call(Call::kSync, -1, 0, 0, 3600000)) == "mpc_sync, 1:00:00");
    CHECK(state_in_words(in_call(Call::kFlush, -1, 0, 0, 0)) == "mpc_flush");
    TaskView view = in_call(Call::kSync, -1, 0, 0, 90061000);
    view.state.measured = true;
    view.state.awaited = {Awaited::Kind::kMessage, 5, -1};
    view.state.unexpected.count = 1;
    CHECK(state_in_words(view) == "mpc_sync, waits for 5, 1d 01:01, 1 unexpected");
    view.state.stopped = true;
    CHECK(state_in_words(view).starts_with("stopped, mpc_sync"));
    CHECK(state_in_words(in_call(static_cast<Call>(99), 9999999, -5, 1, 1)).starts_with("?"));
    view = view_of(0);
    view.state.life = TaskState::Life::kOutside;
    CHECK(state_in_words(view) == "computing, no message-passing call yet");
    view.state.idle = true;
    CHECK(state_in_words(view) == "idle, no message-passing call yet");
    view.process.reset();
    CHECK(state_in_words(view) == "gone");
    view.state.pid = 0;
    CHECK(state_in_words(view) == "unstarted");
    view.state.life = TaskState::Life::kEnded;
    CHECK(state_in_words(view) == "ended");
    view.state.wait_status = 3 << 8;
    CHECK(state_in_words(view) == "ended with code 3");
    view.state.wait_status = 11;
    CHECK(state_in_words(view) == "killed by SIGSEGV");
}

TEST_CASE("tables are aligned", "[poestat]") {
    pm::RunningJob other = job();
    other.id = "longer-name-0";
    other.poe = 0;
    other.tasks = 1000;
    other.programs = {};
    other.directory = "";
    const std::vector<pm::RunningJob> jobs{job(), other};
    CHECK(job_table(jobs, false) ==
          "JOB             POE  TASKS  NODES  ELAPSED  PROGRAM  DIRECTORY\n"
          "abc-de-0       1234      2      1   12.3 s  ./prog   /home/me\n"
          "longer-name-0     -   1000      1   12.3 s  -        -\n");
    const std::vector<TaskView> tasks{view_of(0), in_call(Call::kSync, -1, 0, 0, 0)};
    CHECK(task_table(job(), tasks, "n1") ==
          "job abc-de-0: ./prog, 2 tasks on 1 node, for 12.3 s, poe is 1234, in "
          "/home/me\n\n"
          "TASK  NODE   PID     CPU  MEMORY  STATE\n"
          "   0  n1    4000  1.23 s    5 MB  computing\n"
          "   0  n1    4000  1.23 s    5 MB  mpc_sync\n");
    pm::RunningJob wide = job();
    wide.nodes = 2;
    wide.tasks_elsewhere = {2, 3, 4};
    CHECK(task_table(wide, tasks, "n1")
              .find("tasks 2-4 run on other nodes and cannot be seen from here\n") !=
          std::string::npos);
}

TEST_CASE("a job is recognised before it is ended", "[poestat]") {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    const auto now = std::chrono::system_clock::from_time_t(1'700'000'000);
    CHECK(kill_table(std::vector{job()}, now) ==
          "JOB       TASKS  STARTED              PROGRAM  DIRECTORY\n"
          "abc-de-0      2  2023-11-14 22:13:07  ./prog   /home/me\n");
}

TEST_CASE("deadlocks as text and JSON", "[poestat]") {
    JobFindings found{job(), {}};
    CHECK(deadlock_text(std::vector{found}) == "job abc-de-0: no deadlock\n");
    found.findings.stuck = {0, 1};
    found.findings.cycles = {{0, 1}};
    found.findings.lines = {"one", "two"};
    CHECK(deadlock_text(std::vector{found}) ==
          "job abc-de-0: deadlock: tasks 0,1 wait for each other and can never go on\n"
          "       one\n       two\n");
    const auto json = nlohmann::json::parse(deadlocks_json(std::vector{found}));
    CHECK(json[0]["deadlock"] == true);
    CHECK(json[0]["cycles"][0].size() == 2);
    CHECK(nlohmann::json::parse(deadlocks_json({})) == nlohmann::json::array());
    TaskView task = in_call(Call::kBrecv, -1, 7, 10, 1500);
    task.state.measured = true;
    task.state.unexpected.count = task.state.unexpected.noted = 1;
    task.state.unexpected.notes[0] = {3, 8, 16};
    const auto whole =
        nlohmann::json::parse(tasks_json(std::vector{job()}, std::vector{task}, "\xff"));
    CHECK(whole["task_states"][0]["peer"].is_null());
    CHECK(whole["task_states"][0]["unexpected_oldest"][0]["type"] == 8);
}

TEST_CASE("lines are cut for a terminal, not in the middle of a character", "[poestat]") {
    CHECK(cut_to("abcdef\nab\n", 3) == "abc\nab\n");
    CHECK(cut_to("\xc3\xa4\xc3\xb6\xc3\xbc", 2) == "\xc3\xa4\xc3\xb6");
    CHECK(cut_to("", 2).empty());
}
