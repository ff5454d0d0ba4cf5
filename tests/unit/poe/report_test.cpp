// The last words of a job, as tables of outcomes and texts.
#include "poe/report.hpp"

#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace poe;
using namespace poe::cli;
using pm::Cause;
using namespace std::chrono_literals;

namespace {

pm::JobSpec job_of(std::size_t tasks) {
    pm::JobSpec job;
    job.id = "k3f-1-0";
    job.nodes = {"n0", "n1"};
    job.commands = {{"./ring", "-v"}, {"./other"}};
    for (std::size_t i = 0; i < tasks; ++i)
        job.tasks.push_back({static_cast<NodeIndex>(i % 2), i == 3 ? 1u : 0u});
    return job;
}

pm::Outcome outcome_of(std::size_t tasks, Cause cause, int status, std::optional<TaskId> first) {
    pm::Outcome outcome;
    outcome.cause = cause;
    outcome.status = status;
    outcome.first_failure = first;
    outcome.elapsed = 2500ms;
    outcome.tasks.resize(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
        outcome.tasks[i].exit.emplace();
        outcome.tasks[i].exit->task = static_cast<TaskId>(i);
        outcome.tasks[i].exit->after = 1234567us;
    }
    return outcome;
}

void kill_task(pm::Outcome& outcome, std::size_t task, int signal, bool by_poe = true) {
    outcome.tasks[task].exit->signal = signal;
    outcome.tasks[task].ended_by_poe = by_poe;
}

void exit_task(pm::Outcome& outcome, std::size_t task, int code, bool by_poe = false) {
    outcome.tasks[task].exit->code = code;
    outcome.tasks[task].ended_by_poe = by_poe;
}

// "251 text" for errors, the text alone for details.
std::vector<std::string> lines_of(const pm::JobSpec& job, const pm::Outcome& outcome,
                                  const pm::OutputTails& tails = {}) {
    std::vector<std::string> lines;
    for (const ReportLine& line : report_lines(job, outcome, tails))
        lines.push_back(line.is_error ? std::to_string(line.number) + " " + line.text : line.text);
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("nothing to say", "[report]") {
    CHECK(lines_of(job_of(2), outcome_of(2, Cause::kNone, 0, {})).empty());
    CHECK(lines_of(job_of(2), outcome_of(2, Cause::kOutputClosed, 141, {})).empty());
    CHECK(lines_of(job_of(2), outcome_of(2, Cause::kStopall, 0, 1)).empty());
}

TEST_CASE("calls that end the job in words", "[report]") {
    const auto stop = [](pm::Outcome& outcome, std::size_t task, pm::TaskStop call) {
        outcome.tasks[task].exit->code = call.code & 255;
        outcome.tasks[task].exit->stop = std::move(call);
        outcome.tasks[task].ended_by_poe = outcome.first_failure != static_cast<TaskId>(task);
    };
    const std::string text =
        "0032-206 MPI_Send with communicator ring: argument dest: 9 is no rank.";
    pm::Outcome error = outcome_of(4, Cause::kMpiError, 6, 1);
    error.text = text;
    for (const std::size_t task : {0, 1, 2}) stop(error, task, {StopKind::kMpiError, 6, text});
    kill_task(error, 3, SIGTERM);
    CHECK(
        (lines_of(job_of(4), error) ==
         Lines{"252 tasks 0-2 (nodes n0,n1, ./ring) ended the job because of an MPI error, 1.235 s "
               "after the start",
               "       " + text, "       task 3 ended by poe (SIGTERM)"}));
    // Another error of another task.
    stop(error, 2, {StopKind::kMpiError, 2, "0032-202 MPI_Recv: argument count: -1."});
    CHECK(
        (lines_of(job_of(4), error) ==
         Lines{"252 tasks 0,1 (nodes n0,n1, ./ring) ended the job because of an MPI error, 1.235 s "
               "after the start",
               "       " + text,
               "       task 2 had an MPI error, too: 0032-202 MPI_Recv: argument count: -1.",
               "       task 3 ended by poe (SIGTERM)"}));
    CHECK(report_json(job_of(4), error, {}, {}).find("\"mpi_error\": \"0032-202") !=
          std::string::npos);

    // A consequence of the first error.
    stop(error, 2,
         {StopKind::kMpiError, 2, "0032-258 MPI_Wait: task 0 has gone (MPI_ERR_PROC_ABORTED)."});
    CHECK(lines_of(job_of(4), error)[2] ==
          "       task 2 ended because a task that it communicated with had ended");

    pm::Outcome abort = outcome_of(2, Cause::kAbort, 1, 1);
    stop(abort, 0, {StopKind::kMpiAbort, 512, ""});
    stop(abort, 1, {StopKind::kMpiAbort, 512, ""});
    CHECK((lines_of(job_of(2), abort) ==
           Lines{"252 tasks 0,1 (nodes n0,n1, ./ring) ended the job by MPI_Abort with code 512, "
                 "1.235 s after the start"}));
    stop(abort, 0, {StopKind::kMpiAbort, 3, ""});
    CHECK((lines_of(job_of(2), abort) ==
           Lines{"252 task 1 (node n1, ./ring) ended the job by MPI_Abort with code 512, 1.235 s "
                 "after the start",
                 "       task 0 exited with code 3 while the job was being ended"}));
}

TEST_CASE("exit codes in words", "[report]") {
    pm::Outcome orderly = outcome_of(6, Cause::kOrderly, 9, 1);
    exit_task(orderly, 1, 3);
    exit_task(orderly, 0, 9);
    exit_task(orderly, 4, 9);
    exit_task(orderly, 5, 9);
    exit_task(orderly, 3, 3);
    CHECK((lines_of(job_of(6), orderly) ==
           Lines{"251 task 1 (node n1, ./ring) exited with code 3, 1.235 s after the start",
                 "       tasks 0,4,5 exited with code 9", "       task 3 exited with code 3"}));
    pm::Outcome ended = outcome_of(6, Cause::kExitCode, 1, 3);
    exit_task(ended, 3, 1);
    for (const std::size_t task : {0, 1, 2}) kill_task(ended, task, SIGTERM);
    kill_task(ended, 4, SIGKILL);
    exit_task(ended, 5, 0, true);
    CHECK(
        (lines_of(job_of(6), ended) ==
         Lines{"251 task 3 (node n1, ./other) exited with code 1, 1.235 s after the start",
               "       tasks 0-2 ended by poe (SIGTERM)", "       task 4 ended by poe (SIGKILL)"}));
}

TEST_CASE("signals in words", "[report]") {
    pm::Outcome outcome = outcome_of(4, Cause::kSignal, 139, 2);
    kill_task(outcome, 2, SIGSEGV, false);
    outcome.tasks[2].exit->core = true;
    kill_task(outcome, 0, SIGABRT);
    exit_task(outcome, 1, 7, true);
    kill_task(outcome, 3, SIGTERM);
    CHECK(
        (lines_of(job_of(4), outcome) ==
         Lines{"250 task 2 (node n0, ./ring) killed by SIGSEGV (Segmentation fault), core dumped, "
               "1.235 s after the start",
               "       task 0 killed by SIGABRT (Aborted), no core dumped while the job was being "
               "ended",
               "       task 1 exited with code 7 while the job was being ended",
               "       task 3 ended by poe (SIGTERM)"}));
    // A signal without a name.
    pm::Outcome real_time = outcome_of(1, Cause::kSignal, 128 + 40, 0);
    kill_task(real_time, 0, 40, false);
    const Lines lines = lines_of(job_of(1), real_time);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("250 task 0 (node n0, ./ring) killed by signal 40") == 0);
}

TEST_CASE("the other causes in words", "[report]") {
    struct Case {
        Cause cause;
        int status;
        std::optional<TaskId> first;
        std::string text;
        std::string line;
    };
    const Case cases[] = {
        {Cause::kStopall, 7, 1, "",
         "252 task 1 (node n1, ./ring) called mpc_stopall(7), 1.235 s after the start"},
        {Cause::kAbort, 5, 1, "",
         "252 task 1 (node n1, ./ring) aborted the job with code 5, 1.235 s after the start"},
        {Cause::kAbort, 5, 1, "bad {input}",
         "252 task 1 (node n1, ./ring) aborted the job with code 5 (bad {input}), 1.235 s after "
         "the "
         "start"},
        {Cause::kLeft, 1, 1, "",
         "252 task 1 (node n1, ./ring) exited with code 0 without MPI_Finalize, 1.235 s after the "
         "start"},
        {Cause::kInterrupted,
         130,
         {},
         "",
         "254 the job was ended by SIGINT (Interrupt), 2.500 s after the start"},
        {Cause::kMaxtime,
         124,
         {},
         "",
         "255 the job took longer than -maxtime allows and was ended after 2.500 s"},
        {Cause::kNodeFailed, 1, {}, "no server", "256 no server; the job was ended"},
        {Cause::kLostDaemon, 1, {}, "pmd is gone", "256 pmd is gone; the job was ended"},
        {Cause::kOutputError, 1, {}, "disk full", "257 disk full; the job was ended"},
    };
    for (const Case& one : cases) {
        pm::Outcome outcome = outcome_of(2, one.cause, one.status, one.first);
        outcome.text = one.text;
        CHECK((lines_of(job_of(2), outcome) == Lines{one.line}));
    }
}

TEST_CASE("of a job that never ran no task is spoken of", "[report]") {
    pm::Outcome outcome = outcome_of(2, Cause::kInterrupted, 130, {});
    outcome.never_ran = true;
    for (auto& task : outcome.tasks) task.exit.reset();
    CHECK((lines_of(job_of(2), outcome) ==
           Lines{"254 the job was ended by SIGINT (Interrupt), 2.500 s after the start and before "
                 "its tasks ran"}));
}

TEST_CASE("programs that could not be loaded are folded", "[report]") {
    pm::Outcome outcome = outcome_of(6, Cause::kNotStarted, 255, 0);
    for (auto& task : outcome.tasks) task.exit.reset();
    outcome.not_started = {{0, "cannot run \"./ring\": no"},
                           {1, "cannot run \"./ring\": no"},
                           {2, "cannot run \"./ring\": no"},
                           {4, "cannot run \"./ring\": no"},
                           {3, "cannot run \"./other\": no"}};
    pm::JobSpec job = job_of(6);
    for (pm::TaskSpec& task : job.tasks) task.node = 0;
    CHECK((lines_of(job, outcome) == Lines{"253 task 3 (node n0) cannot run \"./other\": no",
                                           "253 tasks 0-2,4 (node n0) cannot run \"./ring\": no"}));
}

TEST_CASE("programs that could not be loaded on several nodes", "[report]") {
    pm::Outcome outcome = outcome_of(4, Cause::kNotStarted, 255, 0);
    for (auto& task : outcome.tasks) task.exit.reset();
    for (const TaskId task : {3, 0, 1, 2}) outcome.not_started.push_back({task, "cannot run"});
    pm::JobSpec job = job_of(4);
    for (std::size_t i = 0; i < 4; ++i) job.tasks[i].node = i < 2 ? 1 : 0;
    CHECK((lines_of(job, outcome) == Lines{"253 tasks 0-3 (nodes n0,n1) cannot run"}));

    job = job_of(4);
    job.nodes.clear();
    for (int i = 0; i < 12; ++i) job.nodes.push_back("n" + std::to_string(i));
    job.tasks.resize(12, job.tasks[0]);
    outcome.tasks.resize(12);
    outcome.not_started.clear();
    for (TaskId task = 0; task < 12; ++task) {
        job.tasks[static_cast<std::size_t>(task)].node = task;
        outcome.not_started.push_back({task, "cannot run"});
    }
    CHECK((lines_of(job, outcome) ==
           Lines{"253 tasks 0-11 (nodes n0,n1,n2,n3,n4,n5,n6,n7 and 4 more) cannot run"}));
}

// Several lines of a commands file may name one program; its failures come command by command.
TEST_CASE("failures of several commands with one text", "[report]") {
    pm::Outcome outcome = outcome_of(4, Cause::kNotStarted, 255, 0);
    for (auto& task : outcome.tasks) task.exit.reset();
    for (const TaskId task : {0, 2, 1, 3}) outcome.not_started.push_back({task, "cannot run"});
    pm::JobSpec job = job_of(4);
    for (pm::TaskSpec& task : job.tasks) task.node = 0;
    CHECK((lines_of(job, outcome) == Lines{"253 tasks 0-3 (node n0) cannot run"}));
}

TEST_CASE("trouble of a whole node says nothing about its tasks", "[report]") {
    pm::Outcome outcome = outcome_of(3, Cause::kNotStarted, 1, {});
    for (auto& task : outcome.tasks) task.exit.reset();
    outcome.text = "cannot make the job directory";
    CHECK((lines_of(job_of(3), outcome) == Lines{"253 cannot make the job directory"}));
}

TEST_CASE("tasks that nobody heard of", "[report]") {
    pm::Outcome outcome = outcome_of(4, Cause::kLostDaemon, 1, {});
    outcome.text = "gone";
    outcome.tasks[1].exit.reset();
    CHECK((lines_of(job_of(4), outcome) ==
           Lines{"256 gone; the job was ended", "       task 1 did not report how it ended"}));
    outcome.tasks[2].exit.reset();
    CHECK((lines_of(job_of(4), outcome) ==
           Lines{"256 gone; the job was ended", "       tasks 1,2 did not report how they ended"}));
}

TEST_CASE("100,000 tasks fit on a few lines", "[report]") {
    pm::Outcome outcome = outcome_of(100000, Cause::kExitCode, 1, 50000);
    exit_task(outcome, 50000, 1);
    for (std::size_t i = 0; i < 100000; ++i)
        if (i != 50000) kill_task(outcome, i, SIGTERM);
    const Lines lines = lines_of(job_of(100000), outcome);
    REQUIRE(lines.size() == 2);
    CHECK(lines[1] == "       tasks 0-49999,50001-99999 ended by poe (SIGTERM)");
}

TEST_CASE("the last words of the task that failed", "[report]") {
    pm::OutputTails tails;
    tails.append(1, "first\nsecond\n");
    tails.append(1, "third\nfo");
    tails.append(1, "urth\n\nsixth\nseventh\n\n");
    tails.append(0, "not me\n");
    CHECK((tails.last_lines(1, 2) == Lines{"sixth", "seventh"}));
    CHECK((tails.last_lines(1, 100) ==
           Lines{"first", "second", "third", "fourth", "", "sixth", "seventh"}));
    CHECK(tails.last_lines(1, 0).empty());
    CHECK(tails.last_lines(2, 5).empty());
    pm::Outcome outcome = outcome_of(2, Cause::kExitCode, 1, 1);
    exit_task(outcome, 1, 1);
    kill_task(outcome, 0, SIGTERM);
    CHECK((lines_of(job_of(2), outcome, tails) ==
           Lines{"251 task 1 (node n1, ./ring) exited with code 1, 1.235 s after the start",
                 "       last on standard error of task 1:", "       | third", "       | fourth",
                 "       | ", "       | sixth", "       | seventh",
                 "       task 0 ended by poe (SIGTERM)"}));
    // A single task's are just above.
    pm::OutputTails own;
    own.append(0, "words\n");
    pm::Outcome single = outcome_of(1, Cause::kExitCode, 1, 0);
    exit_task(single, 0, 1);
    CHECK(lines_of(job_of(1), single, own).size() == 1);
}

TEST_CASE("only so much of standard error is kept", "[report]") {
    pm::OutputTails tails;
    for (int i = 0; i < 100000; ++i) tails.append(0, "line " + std::to_string(i) + "\n");
    CHECK((tails.last_lines(0, 2) == Lines{"line 99998", "line 99999"}));
    CHECK(tails.last_lines(0, 100000).size() < 2000);
    tails.append(1, std::string(1 << 20, 'x') + "\n");
    const Lines lines = tails.last_lines(1, 5);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].size() <= 8192);
    tails.append(2, "");
    tails.append(2, "\n\n\n");
    CHECK(tails.last_lines(2, 5).empty());
}

TEST_CASE("the report as JSON", "[report]") {
    pm::Outcome outcome = outcome_of(3, Cause::kSignal, 139, 1);
    kill_task(outcome, 1, SIGSEGV, false);
    outcome.tasks[1].exit->core = true;
    outcome.tasks[1].exit->user = 1500ms;
    outcome.tasks[1].exit->system = 250ms;
    outcome.tasks[1].exit->peak_memory = Bytes{1} << 40;
    exit_task(outcome, 0, 0);
    outcome.tasks[2].exit.reset();
    pm::OutputTails tails;
    tails.append(1, "boom\n");
    const std::string text = report_json(job_of(3), outcome, tails);
    CHECK(text.back() == '\n');
    const auto json = nlohmann::ordered_json::parse(text);
    CHECK(json == nlohmann::ordered_json::parse(R"({
        "job": "k3f-1-0", "status": 139, "cause": "signal", "seconds": 2.5,
        "nodes": ["n0", "n1"],
        "first_failure": {"task": 1, "node": "n1", "program": "./ring", "signal": 11,
            "signal_name": "SIGSEGV", "core_dumped": true, "ended_by_poe": false,
            "seconds": 1.234567, "user_seconds": 1.5, "system_seconds": 0.25,
            "peak_memory_bytes": 1099511627776, "last_stderr": ["boom"]},
        "not_started": [],
        "tasks": [
          {"task": 0, "node": "n0", "program": "./ring", "code": 0, "ended_by_poe": false,
            "seconds": 1.234567, "user_seconds": 0.0, "system_seconds": 0.0,
            "peak_memory_bytes": 0},
          {"task": 1, "node": "n1", "program": "./ring", "signal": 11,
            "signal_name": "SIGSEGV", "core_dumped": true, "ended_by_poe": false,
            "seconds": 1.234567, "user_seconds": 1.5, "system_seconds": 0.25,
            "peak_memory_bytes": 1099511627776},
          {"task": 2, "node": "n0", "program": "./ring"}
        ]})"));
}

TEST_CASE("bytes that are no UTF-8 become valid JSON", "[report]") {
    pm::JobSpec job = job_of(2);
    const std::string bytes("\xff\xfe \"\\\x01\n\0 end", 12);
    job.nodes = {bytes, "n1"};
    job.commands[0][0] = bytes;
    pm::Outcome outcome = outcome_of(2, Cause::kAbort, 5, 0);
    outcome.text = bytes;
    outcome.not_started = {{1, bytes}};
    pm::OutputTails tails;
    tails.append(0, bytes);
    const auto json = nlohmann::json::parse(report_json(job, outcome, tails), nullptr, false);
    REQUIRE_FALSE(json.is_discarded());
    CHECK(json["not_started"][0]["task"] == 1);
    CHECK(json["text"].get<std::string>().find("\xef\xbf\xbd") == 0);
    CHECK(json["tasks"].size() == 2);
    // The lines for people are made, too.
    CHECK_FALSE(lines_of(job, outcome, tails).empty());
}

TEST_CASE("every cause has a name of its own in JSON", "[report]") {
    std::vector<std::string> names;
    for (int cause = 0; cause <= static_cast<int>(Cause::kOutputClosed); ++cause) {
        const pm::Outcome outcome = outcome_of(1, static_cast<Cause>(cause), 0, {});
        const auto json = nlohmann::json::parse(report_json(job_of(1), outcome, {}));
        const auto name = json["cause"].get<std::string>();
        CHECK_FALSE(name.empty());
        CHECK(std::find(names.begin(), names.end(), name) == names.end());
        names.push_back(name);
    }
}

// The order of messages is the daemon's.
TEST_CASE("a task that left before its end was told", "[report]") {
    pm::FailurePolicy judge(2);
    judge.on_left(1);
    if (judge.outcome().cause != Cause::kLeft) return;
    const auto& first = judge.outcome().first_failure;
    REQUIRE(first);
    // Its exit is looked up by the report.
    CHECK(judge.outcome().tasks[static_cast<std::size_t>(*first)].exit.has_value());
}

TEST_CASE("the last words are without a stack", "[report]") {
    pm::OutputTails tails;
    tails.append(1,
                 "first\n+++PARALLEL TOOLS CONSORTIUM LIGHTWEIGHT COREFILE FORMAT version 1.0\n"
                 "+++STACK\nmain : 3 # in a.c\n---STACK\n---LCB\npoe: task 1 gets SIGABRT in f\n");
    pm::Outcome outcome;
    outcome.cause = pm::Cause::kSignal;
    outcome.first_failure = 1;
    outcome.tasks.resize(3);
    outcome.tasks[1].exit = pm::TaskExit{};
    outcome.tasks[1].exit->task = 1;
    outcome.tasks[1].exit->signal = 6;
    std::string text;
    for (const ReportLine& line : report_lines(job_of(3), outcome, tails)) text += line.text + "\n";
    CHECK(text.find("| first\n       | poe: task 1 gets SIGABRT in f\n") != std::string::npos);
    CHECK(text.find("main : 3") == std::string::npos);
}

TEST_CASE("which task may use which processors", "[report]") {
    const pm::TaskMap map{{"a", "b"}, {0, 0, 1, 1}, 0};
    CHECK(binding_lines(map, {"0", "1-3", "0-3", "0-3"}) ==
          std::vector<std::string>{"task 0 (node a) may use processor 0",
                                   "task 1 (node a) may use processors 1-3",
                                   "tasks 2,3 (node b) may use processors 0-3"});
    CHECK(binding_lines(map, {}).empty());
    pm::Outcome outcome;
    outcome.tasks.resize(2);
    const auto json = nlohmann::json::parse(report_json(job_of(2), outcome, {}, {"0-1", ""}));
    CHECK(json["tasks"][0]["processors"] == "0-1");
    CHECK_FALSE(json["tasks"][1].contains("processors"));
}
