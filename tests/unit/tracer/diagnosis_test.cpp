// Wait states, root causes, critical path and efficiencies of jobs for which they are known.
#include "tracer/diagnosis/diagnosis.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/tracer/diagnosis_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;
using Pattern = WaitPattern;

namespace {

// Two tasks compute, and meet in a barrier, which takes 10 us: task 0 for 400 us, task 1 for 800.
std::vector<StreamWriter> uneven_streams() {
    auto tasks = task_streams(2);
    sync_call(tasks[0], 400, 810, 0);
    sync_call(tasks[1], 800, 810, 0);
    return tasks;
}

// 1 waits for 0, which waits for 3, which waits for 2, which computes for 1000 us.
std::vector<StreamWriter> chain_streams() {
    auto tasks = task_streams(4);
    send_call(tasks[2], 1000, 1002, 3);
    receive_call(tasks[3], 1, 1003, 2);
    send_call(tasks[3], 1005, 1007, 0);
    receive_call(tasks[0], 1, 1008, 3);
    send_call(tasks[0], 1010, 1012, 1);
    receive_call(tasks[1], 1, 1013, 0);
    return tasks;
}

Time time_on(const CriticalPath& path, TaskId task, State state) {
    Time sum{0};
    for (const PathShare& share : path.shares)
        if (share.task == task && share.state == state) sum += share.time;
    return sum;
}

}  // namespace

TEST_CASE("each wait state has its name") {
    auto tasks = task_streams(3);
    SECTION("late sender") {
        receive_call(tasks[1], 100, 510, 0);
        send_call(tasks[0], 500, 505, 1);
        const Told told = told_by(tasks);
        REQUIRE(told.history.waits.size() == 1);
        CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(400));
        CHECK(told.history.waits[0].whom == 0);
    }
    SECTION("wrong order: a message that was there is received later") {
        send_call(tasks[2], 50, 52, 1);
        send_call(tasks[0], 500, 505, 1);
        receive_call(tasks[1], 100, 510, 0);
        receive_call(tasks[1], 520, 525, 2);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kWrongOrder, 1) == microseconds(400));
        CHECK(waited(told.history, Pattern::kLateSender) == Time{0});
    }
    SECTION("not the wrong order: the other message was sent after the awaited one") {
        send_call(tasks[2], 501, 502, 1);
        send_call(tasks[0], 500, 505, 1);
        receive_call(tasks[1], 100, 510, 0);
        receive_call(tasks[1], 520, 525, 2);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(400));
        CHECK(waited(told.history, Pattern::kWrongOrder) == Time{0});
    }
    SECTION("late receiver") {
        send_call(tasks[0], 100, 520, 1);
        receive_call(tasks[1], 500, 510, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kLateReceiver, 0) == microseconds(400));
        REQUIRE(told.history.waits.size() == 1);
    }
    SECTION("wait at barrier") {
        for (const std::uint64_t task : {0, 1, 2}) sync_call(tasks[task], 100 + task * 50, 205, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kBarrier, 0) == microseconds(100));
        CHECK(waited(told.history, Pattern::kBarrier, 1) == microseconds(50));
        CHECK(waited(told.history, Pattern::kBarrier, 2) == Time{0});
    }
    SECTION("wait at NxN") {
        for (const std::uint64_t task : {0, 1, 2})
            collective_call(tasks[task], kCombineCall, 100 + task * 50, 205, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kNxN) == microseconds(150));
        CHECK(told.history.waits.size() == 2);
        CHECK(told.history.waits[0].communicator == kMplGroup);
    }
    SECTION("early reduce: only the root waits") {
        collective_call(tasks[0], kReduceCall, 100, 305, 0, 0);
        collective_call(tasks[1], kReduceCall, 200, 202, 0, 0);
        collective_call(tasks[2], kReduceCall, 300, 302, 0, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kEarlyReduce, 0) == microseconds(200));
        CHECK(told.history.waits.size() == 1);
    }
    SECTION("late broadcast, and a late member that passes the data on") {
        collective_call(tasks[0], kBcastCall, 300, 305, 0, 0);
        collective_call(tasks[1], kBcastCall, 100, 405, 0, 0);
        collective_call(tasks[2], kBcastCall, 400, 402, 0, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kLateBroadcast, 1) == microseconds(200));
        CHECK(waited(told.history, Pattern::kLateMember, 1) == microseconds(100));
        CHECK(told.history.waits.size() == 2);
    }
    SECTION("early scan") {
        collective_call(tasks[0], kPrefixCall, 300, 302, 0);
        collective_call(tasks[1], kPrefixCall, 100, 305, 0);
        collective_call(tasks[2], kPrefixCall, 250, 306, 0);
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kEarlyScan, 1) == microseconds(200));
        CHECK(waited(told.history, Pattern::kEarlyScan, 2) == microseconds(50));
    }
    SECTION("late broadcast of a non-blocking call, in the call that waits for it") {
        tasks[0].enter(us(300), kIbcastCall, kNobody, 0, 1);
        tasks[0].collective(us(300), 0, 0, 0, 8, Phase::kStarts);
        tasks[0].leave(us(302), kIbcastCall);
        tasks[1].enter(us(50), kIbcastCall, kNobody, 0, 1);
        tasks[1].collective(us(50), 0, 0, 0, 8, Phase::kStarts);
        tasks[1].leave(us(52), kIbcastCall);
        for (const std::uint64_t task : {0, 1}) {
            const std::uint64_t from = task == 0 ? 310 : 100;
            tasks[task].enter(us(from), kCollwaitCall, kNobody, 0, 1);
            tasks[task].collective(us(from), 0, kNobody, 0, 0, Phase::kEnds);
            tasks[task].leave(us(320), kCollwaitCall);
        }
        const Told told = told_by(tasks);
        CHECK(waited(told.history, Pattern::kLateBroadcast, 1) == microseconds(200));
        CHECK(told.history.waits.size() == 1);
        REQUIRE(told.history.operations.size() == 1);
        REQUIRE(told.history.members.size() == 2);
        for (const Member& member : told.history.members)
            CHECK(member.end_call > member.start_call);
    }
}

TEST_CASE("the start of a persistent request tells what its operation waits for") {
    constexpr std::uint32_t kStart = 300;
    constexpr std::uint32_t kWait = 301;
    struct Expected {
        DataFlow flow;
        Pattern pattern;
        long waited;  // us, by task 1, which is no root
    };
    // Task 0, the root, starts at 300 us, task 2 at 400, task 1 waits from 100 to 450.
    const auto expected = GENERATE(Expected{DataFlow::kOneToAll, Pattern::kLateBroadcast, 200},
                                   Expected{DataFlow::kAllToOne, Pattern::kLateMember, 300},
                                   Expected{DataFlow::kBarrier, Pattern::kBarrier, 300},
                                   Expected{DataFlow::kAllToAll, Pattern::kNxN, 300},
                                   Expected{DataFlow::kNone, Pattern::kLateMember, 300});
    // In the second form, the start is a record for itself, as an observer writes it.
    const bool observed = GENERATE(false, true);
    auto tasks = task_streams(3);
    const std::array<std::uint64_t, 3> starts{300, 50, 400};
    for (std::size_t task = 0; task < 3; ++task) {
        StreamWriter& out = tasks[task];
        out.define(0, Defined::kRegion, kStart, "MPI_Start", 0);
        out.define(0, Defined::kRegion, kWait, "MPI_Wait", 0);
        out.enter(us(starts[task]), kStart, kNobody, 0, 1);
        if (observed)
            out.call(us(starts[task]),
                     out.call_line(us(starts[task]), {kStart, kNobody, 0, 16, 0, 1}),
                     call_detail(CallPart::kCollectiveStarts, false, false, expected.flow), 8);
        else
            out.collective(us(starts[task]), 0, 0, group_of_context(16), 8, Phase::kStarts,
                           expected.flow);
        out.leave(us(starts[task] + 2), kStart);
        const std::uint64_t from = std::max<std::uint64_t>(starts[task] + 5, 100);
        out.enter(us(from), kWait, kNobody, 0, 1);
        out.collective(us(from), 0, kNobody, group_of_context(16), 0, Phase::kEnds);
        out.leave(us(task == 1 ? 450 : from + 1), kWait);
    }
    const Told told = told_by(tasks);
    CHECK(waited(told.history, expected.pattern, 1) == microseconds(expected.waited));
    REQUIRE(told.history.operations.size() == 1);
    CHECK(told.history.operations[0].flow == expected.flow);
}

TEST_CASE("wait states are summed by task, call site, communicator and phase") {
    auto tasks = task_streams(2);
    tasks[1].enter(us(50), kSolve);
    receive_call(tasks[1], 100, 510, 0);
    tasks[1].leave(us(520), kSolve);
    send_call(tasks[0], 500, 505, 1);
    receive_call(tasks[1], 600, 720, 0);
    send_call(tasks[0], 700, 705, 1);
    const Told told = told_by(tasks);
    const WaitSums all = sum_waits(told.history);
    const PatternSums& sums = all[static_cast<std::size_t>(Pattern::kLateSender)];
    CHECK(sums.all.count == 2);
    CHECK(sums.all.time == microseconds(500));
    CHECK(sums.by_task.at(1).time == microseconds(500));
    REQUIRE(sums.by_site.size() == 1);
    CHECK(told.definitions.region(sums.by_site.begin()->first.region).name == "mpc_brecv");
    CHECK(sums.by_communicator.at(kNoCommunicator).count == 2);
    CHECK(sums.by_phase.at(0).time == microseconds(100));
    REQUIRE(sums.by_phase.size() == 2);
    CHECK(sums.by_phase.rbegin()->second.time == microseconds(400));
}

TEST_CASE("a communicator of MPI has the same number in messages and in collective calls") {
    constexpr std::uint32_t kContext = 19;
    auto tasks = task_streams(2);
    tasks[1].enter(us(100), kBrecvCall, 0, 5, 1);
    tasks[1].receive(us(510), 0, 5, 8);
    tasks[1].about(us(510), kContext, 0);
    tasks[1].leave(us(510), kBrecvCall);
    send_call(tasks[0], 500, 505, 1);
    for (const std::uint64_t task : {0, 1}) {
        tasks[task].enter(us(600 + 100 * task), kCombineCall, kNobody, 0, 1);
        tasks[task].collective(us(600 + 100 * task), 0, kNobody, (1u << 30) + kContext, 8);
        tasks[task].leave(us(705), kCombineCall);
    }
    const Told told = told_by(tasks);
    REQUIRE(told.history.waits.size() == 2);
    for (const TaskWait& wait : told.history.waits) CHECK(wait.communicator == kContext);
}

TEST_CASE("a chain of waits is led back to the task that computed") {
    const Told told = told_by(chain_streams());
    REQUIRE(told.history.waits.size() == 3);
    const std::vector<Cause> causes = find_root_causes(told.history);
    const Cause& cause = causes.front();
    CHECK(cause.task == 2);
    CHECK(cause.state == State::kComputing);
    // 999 us of task 3 directly. Of the waits of tasks 0 and 1 nearly all.
    CHECK(cause.short_term == Approx(999'000));
    CHECK(cause.long_term / 1000 == Approx(2 * 999).margin(20));
    REQUIRE(cause.victims.size() == 3);
    double sum = 0;
    for (const Cause& each : causes) sum += each.cost();
    CHECK(sum == Approx((999 + 1004 + 1009) * 1000.0));
}

TEST_CASE("a task that polls costs nothing, and leads to the task that it polls for") {
    // Task 1 waits for task 0, which polls for a message of task 2, which computes.
    auto tasks = task_streams(3);
    send_call(tasks[2], 1000, 1002, 0);
    for (std::uint64_t at = 1; at < 1000; at += 10) {
        tasks[0].enter(us(at), kProbeCall, 2, 5, 1);
        tasks[0].leave(us(at + 5), kProbeCall);
    }
    tasks[0].enter(us(1001), kProbeCall, 2, 5, 1);
    tasks[0].leave(us(1003), kProbeCall);
    SECTION("and receives the message after its last poll") {
        receive_call(tasks[0], 1005, 1006, 2);
    }
    SECTION("and receives the message in its last poll") {
        tasks[0].enter(us(1005), kStatusCall, 2, 5, 1);
        tasks[0].receive(us(1006), 2, 5, 1000);
        tasks[0].leave(us(1006), kStatusCall);
    }
    send_call(tasks[0], 1010, 1012, 1);
    receive_call(tasks[1], 1, 1013, 0);
    const Told told = told_by(tasks);
    CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(1009));
    const PatternSums sums =
        sum_waits(told.history)[static_cast<std::size_t>(Pattern::kLateSender)];
    CHECK(sums.all.count == 1);
    const std::vector<Cause> causes = find_root_causes(told.history);
    CHECK(computing_cost(causes, 2) > 980);
    CHECK(causes.front().victims.size() == 1);
    const CriticalPath path = find_critical_path(told.history);
    REQUIRE(path.parts.size() == 3);
    CHECK(path.parts[0].task == 2);
    CHECK(path.parts[0].to == microseconds(1000));
}

TEST_CASE("a task that polls for a collective operation leads to the member that came last") {
    // Task 1 waits for task 0, which polls for a broadcast of task 2, which computes.
    auto tasks = task_streams(3);
    const auto start = [](StreamWriter& out, std::uint64_t at) {
        out.enter(us(at), kIbcastCall, kNobody, 0, 1);
        out.collective(us(at), 0, 2, 0, 8, Phase::kStarts);
        out.leave(us(at + 1), kIbcastCall);
    };
    constexpr std::uint32_t kColltestCall = kNonBlocking + kCollwaitCall;
    start(tasks[0], 1);
    for (std::uint64_t at = 5; at <= 1005; at += 10) {
        tasks[0].enter(us(at), kColltestCall, kNobody, 0, 1);
        if (at == 1005) tasks[0].collective(us(at), 0, kNobody, 0, 0, Phase::kEnds);
        tasks[0].leave(us(at + 5), kColltestCall);
    }
    start(tasks[2], 1000);
    send_call(tasks[0], 1015, 1016, 1);
    receive_call(tasks[1], 1, 1020, 0);
    const Told told = told_by(tasks);
    REQUIRE(told.history.waits_of(0).size() == 1);
    const TaskWait& polls = told.history.waits_of(0)[0];
    CHECK(polls.polls);
    CHECK(polls.whom == 2);
    CHECK(polls.from == microseconds(5));
    CHECK(polls.to == microseconds(1000));
    CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(1014));
    CHECK(computing_cost(find_root_causes(told.history), 2) > 970);
    CHECK(find_critical_path(told.history).parts.front().task == 2);
}

TEST_CASE("only what a task does longer is a delay") {
    // Both compute for 300 us in "solve"; then task 1 computes for 200 us more outside it.
    auto tasks = task_streams(2);
    for (StreamWriter& task : tasks) {
        task.enter(us(0), kSolve);
        task.leave(us(300), kSolve);
    }
    sync_call(tasks[0], 301, 510, 0);
    sync_call(tasks[1], 501, 510, 0);
    const Told told = told_by(tasks);
    const std::vector<Cause> causes = find_root_causes(told.history);
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].task == 1);
    CHECK(causes[0].region == 0);
    CHECK(causes[0].cost() == Approx(200'000));
}

TEST_CASE("causes are searched for since the two tasks last depended on each other") {
    // Task 1 computes long before the first barrier, and is on time at the second one.
    auto tasks = task_streams(2);
    sync_call(tasks[0], 100, 910, 0);
    sync_call(tasks[1], 900, 910, 0);
    sync_call(tasks[0], 1100, 1110, 1);
    sync_call(tasks[1], 1000, 1110, 1);
    const Told told = told_by(tasks);
    const std::vector<Cause> causes = find_root_causes(told.history);
    CHECK(computing_cost(causes, 1) == 800);
    CHECK(computing_cost(causes, 0) == 100);
}

TEST_CASE("a message that came early in a call is no sync point for the rest of that call") {
    // Task 1 waits in one call for the messages of tasks 0 and 2, which are recorded at its end.
    // Task 2 computes. Then task 0 waits for task 1 in a barrier.
    auto tasks = task_streams(3);
    send_call(tasks[0], 100, 105, 1);
    send_call(tasks[2], 1000, 1005, 1);
    tasks[1].enter(us(100), kWaitCall, kNobody, 0, 1);
    tasks[1].receive(us(1010), 0, 5, 1000, 0);
    tasks[1].receive(us(1010), 2, 5, 1000, 0);
    tasks[1].leave(us(1010), kWaitCall);
    sync_call(tasks[0], 110, 1030, 0);
    sync_call(tasks[1], 1020, 1030, 0);
    sync_call(tasks[2], 1010, 1030, 0);
    const Told told = told_by(tasks);
    const std::vector<Cause> causes = find_root_causes(told.history);
    CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(900));
    CHECK(waited(told.history, Pattern::kBarrier, 0) == microseconds(910));
    CHECK(computing_cost(causes, 2) > 1700);
    CHECK(computing_cost(causes, 1) < 50);
}

TEST_CASE("a message for which nobody has waited is no sync point") {
    // Task 0 sends at once; task 1 computes, and receives that long afterwards. Then task 0 waits
    // for task 1.
    auto tasks = task_streams(2);
    send_call(tasks[0], 10, 12, 1);
    receive_call(tasks[1], 1000, 1002, 0);
    receive_call(tasks[0], 20, 1008, 1);
    send_call(tasks[1], 1004, 1006, 0);
    const std::vector<Cause> causes = find_root_causes(told_by(tasks).history);
    CHECK(computing_cost(causes, 1) > 950);
}

TEST_CASE("the sync point of a rooted call is when the first of the two tasks left it") {
    // A reduction to task 0, which computes; the others do not wait for it there, but in the
    // barrier.
    auto tasks = task_streams(3);
    for (const std::uint64_t task : {1, 2}) {
        collective_call(tasks[task], kReduceCall, 10, 12, 0, 0);
        sync_call(tasks[task], 15, 1030, 1);
    }
    collective_call(tasks[0], kReduceCall, 1000, 1010, 0, 0);
    sync_call(tasks[0], 1020, 1030, 1);
    const std::vector<Cause> causes = find_root_causes(told_by(tasks).history);
    // Nearly all of 2 x 1005 us is the computing before the reduction; 10 us are behind it.
    REQUIRE(causes.size() >= 2);
    CHECK(causes[0].task == 0);
    CHECK(causes[0].state == State::kComputing);
    CHECK(computing_cost(causes, 0) > 1900);
}

TEST_CASE("waiting in a call such as MPI_Probe, which does not receive, is a late sender") {
    auto tasks = task_streams(2);
    // It receives nothing, as MPI_Probe.
    tasks[1].enter(us(100), kBrecvCall, 0, 5, 1);
    tasks[1].leave(us(510), kBrecvCall);
    receive_call(tasks[1], 530, 535, 0);
    send_call(tasks[0], 500, 505, 1);
    const Told told = told_by(tasks);
    CHECK(waited(told.history, Pattern::kLateSender, 1) == microseconds(400));
    CHECK(computing_cost(find_root_causes(told.history), 0) > 390);
}

TEST_CASE("the search for causes reports the waits for which it stopped at its limit") {
    const auto cut_after = [](int calls) {
        auto tasks = task_streams(2);
        for (int i = 0; i < calls; ++i) {
            const auto at = static_cast<std::uint64_t>(10 + 2 * i);
            tasks[1].enter(us(at), kStatusCall);
            tasks[1].leave(us(at + 1), kStatusCall);
        }
        sync_call(tasks[0], 5, 20'010, 0);
        sync_call(tasks[1], 20'000, 20'010, 0);
        Time cut{0};
        find_root_causes(told_by(tasks).history, &cut);
        return cut;
    };
    CHECK(cut_after(100) == Time{0});
    CHECK(cut_after(5000) == microseconds(19'995));
}

TEST_CASE("a task does not wait for itself") {
    auto tasks = task_streams(1);
    tasks[0].enter(us(100), kWaitCall, kNobody, 0, 1);
    tasks[0].send(us(200), 0, 5, 1000, 0);
    tasks[0].receive(us(210), 0, 5, 1000, 0);
    tasks[0].leave(us(220), kWaitCall);
    CHECK(told_by(tasks).history.waits.empty());
}

TEST_CASE("the critical path goes over the tasks that were waited for") {
    const Told told = told_by(chain_streams());
    const CriticalPath path = find_critical_path(told.history);
    REQUIRE(path.parts.size() == 4);
    const TaskId order[] = {2, 3, 0, 1};
    const std::uint64_t ends[] = {1000, 1005, 1010, 1013};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(path.parts[i].task == order[i]);
        CHECK(path.parts[i].to == microseconds(ends[i]));
    }
    CHECK(path.length() == microseconds(1013));
    CHECK(time_on(path, 2, State::kComputing) == microseconds(1000));
    CHECK(time_on(path, 3, State::kReceiving) == microseconds(3));
    CHECK(time_on(path, 3, State::kComputing) == microseconds(2));
    CHECK(path.by_task[2] == microseconds(1000));
    REQUIRE_FALSE(path.imbalances.empty());
    // Only task 2 computes long; the mean of four is a quarter.
    CHECK(path.imbalances.front().state == State::kComputing);
    CHECK(path.imbalances.front().excess() > microseconds(740));
}

TEST_CASE("efficiencies of two tasks, of which one computes twice as long") {
    const Told told = told_by(uneven_streams());
    const Efficiency job = find_efficiencies(told.history, replay_ideally(told.history)).job;
    CHECK(job.load_balance() == Approx(0.75));
    CHECK(job.serialisation() == Approx(1));
    CHECK(job.transfer() == Approx(800.0 / 810));
    CHECK(job.parallel() == Approx(600.0 / 810));
    CHECK(job.elapsed == microseconds(810));
    CHECK(job.ideal == microseconds(800));
}

TEST_CASE("tasks that compute one after the other are serialised") {
    // Each computes for 500 us, the second one after a message that takes 100 us.
    auto tasks = task_streams(2);
    send_call(tasks[0], 500, 501, 1);
    receive_call(tasks[1], 0, 600, 0);
    tasks[1].put(us(1100), {.kind = Kind::kTracing, .detail = 0});
    tasks[0].put(us(501), {.kind = Kind::kTracing, .detail = 0});
    const Told told = told_by(tasks);
    const Efficiency job = find_efficiencies(told.history, replay_ideally(told.history)).job;
    CHECK(job.load_balance() == Approx(1));
    CHECK(job.ideal == microseconds(1000));
    CHECK(job.serialisation() == Approx(0.5));
    CHECK(job.transfer() == Approx(1000.0 / 1100));
}

TEST_CASE("on an ideal network a call depends on what its data flow needs") {
    auto tasks = task_streams(3);
    const auto ideal_end = [](const std::vector<StreamWriter>& streams) {
        const Told told = told_by(streams);
        std::vector<Time> ends;
        for (const LongVector<Time>& begins : replay_ideally(told.history).begins)
            ends.push_back(begins.back());
        return ends;
    };
    SECTION("broadcast: on the root") {
        collective_call(tasks[0], kBcastCall, 300, 390, 0, 0);
        collective_call(tasks[1], kBcastCall, 100, 480, 0, 0);
        collective_call(tasks[2], kBcastCall, 400, 470, 0, 0);
        CHECK(ideal_end(tasks) ==
              std::vector<Time>{microseconds(300), microseconds(300), microseconds(400)});
    }
    SECTION("reduction: the root on all") {
        collective_call(tasks[0], kReduceCall, 300, 490, 0, 0);
        collective_call(tasks[1], kReduceCall, 100, 480, 0, 0);
        collective_call(tasks[2], kReduceCall, 400, 470, 0, 0);
        CHECK(ideal_end(tasks) ==
              std::vector<Time>{microseconds(400), microseconds(100), microseconds(400)});
    }
    SECTION("combine: all on all") {
        for (const std::uint64_t task : {0, 1, 2})
            collective_call(tasks[task], kCombineCall, 100 + 100 * task, 490, 0);
        CHECK(ideal_end(tasks) ==
              std::vector<Time>{microseconds(300), microseconds(300), microseconds(300)});
    }
    SECTION("a send that has waited: on the receiver; others on nobody") {
        send_call(tasks[0], 100, 450, 1);
        receive_call(tasks[1], 400, 440, 0);
        send_call(tasks[0], 460, 470, 2);
        receive_call(tasks[2], 600, 640, 0);
        CHECK(ideal_end(tasks) ==
              std::vector<Time>{microseconds(410), microseconds(400), microseconds(600)});
    }
}

TEST_CASE("phases have efficiencies of their own") {
    auto tasks = task_streams(2);
    for (std::uint64_t task = 0; task < 2; ++task) {
        StreamWriter& out = tasks[task];
        sync_call(out, 100, 100, 0);
        out.enter(us(100), kSolve);
        sync_call(out, 500 + 400 * task, 910, 1);
        out.leave(us(910), kSolve);
        sync_call(out, 1000, 1000, 2);
    }
    const Told told = told_by(tasks);
    const Efficiencies found = find_efficiencies(told.history, replay_ideally(told.history));
    REQUIRE(found.phases.size() == 2);
    CHECK(told.definitions.region(found.phases[0].phase).name == "solve");
    CHECK(found.phases[0].load_balance() == Approx(0.75));
    CHECK(found.phases[0].elapsed == microseconds(810));
    CHECK(found.phases[0].transfer() == Approx(800.0 / 810));
    CHECK(found.phases[1].phase == 0);
    CHECK(found.phases[1].parallel() == Approx(1));
}

TEST_CASE("an operation is found again after its number has wrapped") {
    auto tasks = task_streams(2);
    const std::uint16_t numbers[] = {65534, 65535, 0, 1};
    for (std::uint64_t i = 0; i < 4; ++i)
        for (std::uint64_t task = 0; task < 2; ++task)
            sync_call(tasks[task], 100 * (i + 1) + 10 * task, 100 * (i + 1) + 20, numbers[i]);
    const Told told = told_by(tasks);
    CHECK(told.history.operations.size() == 4);
    CHECK(told.history.members.size() == 8);
}

TEST_CASE("a trace that needs too much memory is not diagnosed, and the summary says so") {
    const Told told = told_by(chain_streams(), 100);
    CHECK(told.history.too_long);
    CHECK(told.history.waits.empty());
    Symbols symbols;
    const TraceSource source = TraceSource::from_bytes(gathered(chain_streams()), "long");
    const Analysis analysis = analyse(
        source, symbols, [](double) {}, 100);
    CHECK(analysis.summary.messages == 3);
    CHECK(analysis_text(analysis).find("too many calls to keep") != std::string::npos);
    CHECK(nlohmann::json::parse(analysis_json(analysis))["too_long_to_diagnose"] == true);
}

TEST_CASE("the limit of memory may fall on any event") {
    auto tasks = task_streams(2);
    for (std::uint64_t i = 0; i < 4; ++i)
        for (std::uint64_t task = 0; task < 2; ++task)
            sync_call(tasks[task], 100 * (i + 1) + 10 * task, 100 * (i + 1) + 20,
                      static_cast<std::uint16_t>(i));
    bool fits = false;
    for (std::size_t limit = 0; !fits; limit += 8) {
        REQUIRE(limit < 100'000);
        const Told told = told_by(tasks, limit);
        fits = !told.history.too_long;
        if (!fits) CHECK(told.history.waits.empty());
    }
}

TEST_CASE("text and JSON have the same diagnosis") {
    Symbols symbols;
    const TraceSource source = TraceSource::from_bytes(gathered(chain_streams()), "chain");
    const Analysis analysis = analyse(source, symbols, [](double) {});
    const std::string text = analysis_text(analysis);
    CHECK(text.find("  late sender          3   3.012 ms") != std::string::npos);
    CHECK(text.find("task 2 computing before solver+0x1234") != std::string::npos);
    CHECK(text.find("CRITICAL PATH: 1.013 ms in 4 parts") != std::string::npos);
    const auto json = nlohmann::json::parse(analysis_json(analysis));
    CHECK(json["wait_states"][0]["name"] == "late sender");
    CHECK(json["wait_states"][0]["seconds"] == Approx(3.012e-3));
    CHECK(json["wait_states"][0]["by_task"].size() == 3);
    CHECK(json["root_causes"][0]["task"] == 2);
    CHECK(json["root_causes"][0]["state"] == "computing");
    CHECK(json["critical_path"]["seconds"] == Approx(1.013e-3));
    CHECK(json["critical_path"]["by_task"][2] == Approx(1e-3));
    const auto& pop = json["efficiency"];
    CHECK(pop["load_balance"].get<double>() * pop["serialisation"].get<double>() *
              pop["transfer"].get<double>() ==
          Approx(pop["parallel_efficiency"].get<double>()));
    CHECK(json["waits"][0]["why"] == "late sender");
}
