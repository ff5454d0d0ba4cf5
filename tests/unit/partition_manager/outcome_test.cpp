// The rules of how a job ends, as tables of what happens.
#include "partition_manager/home/outcome.hpp"

#include <csignal>
#include <functional>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

constexpr poe::TaskId kTasks = 4;

using Event = std::function<Decision(FailurePolicy&)>;

TaskExit exited(poe::TaskId task, int code) {
    TaskExit exit;
    exit.task = task;
    exit.code = code;
    return exit;
}

Event ends(poe::TaskId task, int code) {
    return [=](FailurePolicy& judge) { return judge.on_exit(exited(task, code)); };
}

Event dies(poe::TaskId task, int signal) {
    return [=](FailurePolicy& judge) {
        TaskExit exit = exited(task, 0);
        exit.signal = signal;
        return judge.on_exit(exit);
    };
}

Event stops_all(poe::TaskId task, int code) {
    return [=](FailurePolicy& judge) {
        TaskExit exit = exited(task, code & 255);
        exit.stop = TaskStop{poe::StopKind::kStopall, code, ""};
        return judge.on_exit(exit);
    };
}

Event has_mpi_error(poe::TaskId task, int code) {
    return [=](FailurePolicy& judge) {
        TaskExit exit = exited(task, code & 255);
        exit.stop = TaskStop{poe::StopKind::kMpiError, code, "0032-202 MPI_Send: no"};
        return judge.on_exit(exit);
    };
}

Event needs_an_ended_task(poe::TaskId task) {
    return [=](FailurePolicy& judge) {
        TaskExit exit = exited(task, 74);
        exit.stop = TaskStop{poe::StopKind::kMpiError, 74,
                             "0032-258 MPI_Get: the target has ended (MPI_ERR_PROC_ABORTED)"};
        return judge.on_exit(exit);
    };
}

Event aborts_in_mpi(poe::TaskId task, int code) {
    return [=](FailurePolicy& judge) {
        TaskExit exit = exited(task, code & 255);
        exit.stop = TaskStop{poe::StopKind::kMpiAbort, code, ""};
        return judge.on_exit(exit);
    };
}

Event aborts(poe::TaskId task, int code) {
    return [=](FailurePolicy& judge) { return judge.on_abort(task, code, "why"); };
}

Event leaves(poe::TaskId task) {
    return [=](FailurePolicy& judge) { return judge.on_left(task); };
}

Event forwards(int signal) {
    return [=](FailurePolicy& judge) {
        judge.on_signal_forwarded(signal);
        return Decision::kGoOn;
    };
}

Event terminated(int signal) {
    return [=](FailurePolicy& judge) { return judge.on_terminated(signal); };
}

const Event kMaxtime = [](FailurePolicy& judge) { return judge.on_maxtime(); };
const Event kNodeFailed = [](FailurePolicy& judge) { return judge.on_node_failed("no server"); };
const Event kLost = [](FailurePolicy& judge) { return judge.on_lost_daemon("gone"); };
const Event kOutputError = [](FailurePolicy& judge) { return judge.on_output_error("full"); };
const Event kOutputClosed = [](FailurePolicy& judge) { return judge.on_output_closed(); };
const Event kMissing = [](FailurePolicy& judge) {
    return judge.on_start_failed({{2, "no such file"}, {3, "no such file"}}, "");
};
const Event kNodeTrouble = [](FailurePolicy& judge) {
    return judge.on_start_failed({}, "no space");
};

struct Case {
    const char* what;
    std::vector<Event> events;
    int deciding;  // the event that ends the job, -1 none
    Cause cause;
    int status;
    std::optional<poe::TaskId> first;
};

void check(const Case& one) {
    INFO(one.what);
    FailurePolicy judge(kTasks);
    for (std::size_t i = 0; i < one.events.size(); ++i) {
        INFO("event " << i);
        const Decision verdict = one.events[i](judge);
        CHECK((verdict == Decision::kEndJob) == (static_cast<int>(i) == one.deciding));
        CHECK(judge.ending() == (one.deciding >= 0 && static_cast<int>(i) >= one.deciding));
    }
    CHECK(judge.outcome().cause == one.cause);
    CHECK(judge.outcome().status == one.status);
    CHECK(judge.outcome().first_failure == one.first);
}

}  // namespace

TEST_CASE("orderly ends", "[outcome]") {
    const Case cases[] = {
        {"nothing", {}, -1, Cause::kNone, 0, {}},
        {"all well", {ends(0, 0), ends(1, 0), ends(2, 0), ends(3, 0)}, -1, Cause::kNone, 0, {}},
        {"2 is orderly", {ends(0, 0), ends(1, 2)}, -1, Cause::kOrderly, 2, 1},
        {"127 is orderly", {ends(3, 127)}, -1, Cause::kOrderly, 127, 3},
        {"the largest counts, the first is named",
         {ends(2, 3), ends(1, 99), ends(0, 5)},
         -1,
         Cause::kOrderly,
         99,
         2},
        {"a later zero changes nothing", {ends(2, 3), ends(1, 0)}, -1, Cause::kOrderly, 3, 2},
        {"task 0 counts as any other", {ends(0, 7), ends(1, 0)}, -1, Cause::kOrderly, 7, 0},
        {"a signal passed on and survived",
         {forwards(SIGINT), ends(0, 0)},
         -1,
         Cause::kNone,
         0,
         {}},
        {"no such task",
         {ends(-1, 1), ends(4, 1), dies(99, 9), leaves(-1), leaves(4)},
         -1,
         Cause::kNone,
         0,
         {}},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("what ends the whole job", "[outcome]") {
    const Case cases[] = {
        {"1", {ends(0, 0), ends(1, 1)}, 1, Cause::kExitCode, 1, 1},
        {"128", {ends(1, 128)}, 0, Cause::kExitCode, 128, 1},
        {"255", {ends(1, 255)}, 0, Cause::kExitCode, 255, 1},
        {"a signal", {dies(2, SIGSEGV)}, 0, Cause::kSignal, 139, 2},
        {"SIGKILL from elsewhere", {dies(2, SIGKILL)}, 0, Cause::kSignal, 137, 2},
        {"SIGTERM from elsewhere", {dies(2, SIGTERM)}, 0, Cause::kSignal, 143, 2},
        {"mpc_stopall", {stops_all(3, 7)}, 0, Cause::kStopall, 7, 3},
        {"mpc_stopall(0)", {stops_all(3, 0)}, 0, Cause::kStopall, 0, 3},
        {"mpc_stopall with an orderly code", {stops_all(3, 2)}, 0, Cause::kStopall, 2, 3},
        {"MPI_Abort", {aborts_in_mpi(3, 7)}, 0, Cause::kAbort, 7, 3},
        {"MPI_Abort(0)", {aborts_in_mpi(3, 0)}, 0, Cause::kAbort, 0, 3},
        {"MPI_Abort(512)", {aborts_in_mpi(3, 512)}, 0, Cause::kAbort, 1, 3},
        {"an MPI error", {has_mpi_error(2, 15)}, 0, Cause::kMpiError, 15, 2},
        {"two MPI errors", {has_mpi_error(2, 15), has_mpi_error(1, 6)}, 0, Cause::kMpiError, 15, 2},
        {"a consequence alone", {needs_an_ended_task(0)}, 0, Cause::kMpiError, 74, 0},
        {"a consequence before its MPI error",
         {needs_an_ended_task(0), has_mpi_error(1, 6), needs_an_ended_task(2)},
         0,
         Cause::kMpiError,
         6,
         1},
        {"two consequences before the abort",
         {needs_an_ended_task(0), needs_an_ended_task(3), aborts_in_mpi(1, 5), has_mpi_error(2, 6)},
         0,
         Cause::kAbort,
         5,
         1},
        {"a consequence before the death",
         {needs_an_ended_task(0), dies(1, SIGSEGV)},
         0,
         Cause::kSignal,
         128 + SIGSEGV,
         1},
        {"a consequence, and tasks that poe ends",
         {needs_an_ended_task(0), dies(1, SIGTERM), dies(2, SIGKILL), ends(3, 1)},
         0,
         Cause::kMpiError,
         74,
         0},
        {"a consequence after the death",
         {dies(1, SIGSEGV), needs_an_ended_task(0)},
         0,
         Cause::kSignal,
         128 + SIGSEGV,
         1},
        {"a death after the job was interrupted",
         {needs_an_ended_task(0), forwards(SIGINT), dies(1, SIGINT)},
         0,
         Cause::kMpiError,
         74,
         0},
        {"abort", {aborts(1, 5)}, 0, Cause::kAbort, 5, 1},
        {"abort(-1)", {aborts(1, -1)}, 0, Cause::kAbort, 255, 1},
        {"abort(256)", {aborts(1, 256)}, 0, Cause::kAbort, 1, 1},
        {"maxtime", {ends(0, 0), kMaxtime}, 1, Cause::kMaxtime, 124, {}},
        {"a node cannot go on", {ends(0, 9), kNodeFailed}, 1, Cause::kNodeFailed, 1, {}},
        {"the daemon is lost", {kLost}, 0, Cause::kLostDaemon, 1, {}},
        {"the output fails", {kOutputError}, 0, Cause::kOutputError, 1, {}},
        {"nobody reads", {kOutputClosed}, 0, Cause::kOutputClosed, 141, {}},
        {"SIGTERM for poe", {terminated(SIGTERM)}, 0, Cause::kInterrupted, 143, {}},
        {"SIGINT passed on", {forwards(SIGINT), dies(1, SIGINT)}, 1, Cause::kInterrupted, 130, {}},
        {"SIGQUIT passed on",
         {forwards(SIGQUIT), dies(1, SIGQUIT)},
         1,
         Cause::kInterrupted,
         131,
         {}},
        {"another signal than the one passed on",
         {forwards(SIGINT), dies(1, SIGSEGV)},
         1,
         Cause::kSignal,
         139,
         1},
        {"tasks that answer a signal with a code",
         {forwards(SIGINT), ends(1, 130)},
         1,
         Cause::kExitCode,
         130,
         1},
        {"left without MPI_Finalize", {ends(1, 0), leaves(1)}, 1, Cause::kLeft, 1, 1},
        {"left with an orderly code", {ends(0, 9), ends(1, 7), leaves(1)}, 2, Cause::kLeft, 7, 1},
        {"programs missing", {kMissing}, 0, Cause::kNotStarted, 255, 2},
        {"trouble of the node", {kNodeTrouble}, 0, Cause::kNotStarted, 1, {}},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("only the first of these counts", "[outcome]") {
    const Event all[] = {ends(1, 1),    dies(1, SIGSEGV), stops_all(1, 9), aborts(1, 8),
                         kMaxtime,      kNodeFailed,      kLost,           kOutputError,
                         kOutputClosed, kMissing,         kNodeTrouble,    terminated(SIGTERM)};
    for (const Event& first : all) {
        FailurePolicy alone(kTasks);
        first(alone);
        for (const Event& later : all) {
            FailurePolicy judge(kTasks);
            REQUIRE(first(judge) == Decision::kEndJob);
            CHECK(later(judge) == Decision::kGoOn);
            CHECK(judge.outcome().cause == alone.outcome().cause);
            CHECK(judge.outcome().status == alone.outcome().status);
            CHECK(judge.outcome().first_failure == alone.outcome().first_failure);
            CHECK(judge.outcome().text == alone.outcome().text);
        }
    }
}

TEST_CASE("tasks of a failed spawn do not count, however they end", "[outcome]") {
    FailurePolicy judge(kTasks);
    judge.on_failed_spawn(exited(3, 1));
    CHECK_FALSE(judge.ending());
    CHECK(judge.outcome().cause == Cause::kNone);
    REQUIRE(judge.outcome().tasks[3].exit);
    CHECK(judge.outcome().tasks[3].exit->code == 1);
    CHECK(judge.outcome().tasks[3].ended_by_poe);
    judge.on_failed_spawn(exited(kTasks, 1));
}

TEST_CASE("orderly codes do not outlive the end of the job", "[outcome]") {
    const Case cases[] = {
        {"orderly, then 1", {ends(0, 99), ends(1, 1)}, 1, Cause::kExitCode, 1, 1},
        {"orderly, then a signal", {ends(0, 99), dies(1, SIGSEGV)}, 1, Cause::kSignal, 139, 1},
        {"orderly, then maxtime", {ends(0, 99), kMaxtime}, 1, Cause::kMaxtime, 124, {}},
        {"1, then orderly", {ends(1, 1), ends(0, 99)}, 0, Cause::kExitCode, 1, 1},
        {"1, then it is said to have left", {ends(1, 1), leaves(1)}, 0, Cause::kExitCode, 1, 1},
        {"maxtime, then all die",
         {kMaxtime, dies(0, SIGTERM), dies(1, SIGKILL), ends(2, 3)},
         0,
         Cause::kMaxtime,
         124,
         {}},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("what became of each task is kept", "[outcome]") {
    FailurePolicy judge(kTasks);
    ends(0, 0)(judge);
    ends(1, 1)(judge);
    dies(2, SIGTERM)(judge);
    const Outcome& outcome = judge.outcome();
    REQUIRE(outcome.tasks.size() == 4);
    CHECK(outcome.tasks[0].exit->code == 0);
    CHECK_FALSE(outcome.tasks[0].ended_by_poe);
    CHECK(outcome.tasks[1].exit->code == 1);
    CHECK_FALSE(outcome.tasks[1].ended_by_poe);
    CHECK(outcome.tasks[2].exit->signal == SIGTERM);
    CHECK(outcome.tasks[2].ended_by_poe);
    CHECK_FALSE(outcome.tasks[3].exit);
}

TEST_CASE("the words and failures that come with the cause", "[outcome]") {
    FailurePolicy aborted(kTasks);
    aborts(1, 5)(aborted);
    CHECK(aborted.outcome().text == "why");
    FailurePolicy missing(kTasks);
    kMissing(missing);
    REQUIRE(missing.outcome().not_started.size() == 2);
    CHECK(missing.outcome().not_started[1].task == 3);
    FailurePolicy trouble(kTasks);
    kNodeTrouble(trouble);
    CHECK(trouble.outcome().text == "no space");
}

TEST_CASE("every signal that was passed on is poe's", "[outcome]") {
    check({"two signals",
           {forwards(SIGUSR1), forwards(SIGUSR2), dies(0, SIGUSR1)},
           2,
           Cause::kInterrupted,
           128 + SIGUSR1,
           {}});
}

// Task numbers come from the daemon; who reports an outcome looks the task up.
TEST_CASE("the first failure is a task of the job", "[outcome]") {
    for (const poe::TaskId task : {-1, kTasks, 1000000}) {
        FailurePolicy aborted(kTasks);
        aborted.on_abort(task, 5, "why");
        const auto first = aborted.outcome().first_failure;
        CHECK((!first || (*first >= 0 && *first < kTasks)));
        FailurePolicy missing(kTasks);
        missing.on_start_failed({{task, "no such file"}}, "");
        for (const LaunchFailure& failure : missing.outcome().not_started)
            CHECK((failure.task >= 0 && failure.task < kTasks));
    }
}
