// What a replay makes of events: states, sums, messages, waits.
#include "tracer/analysis/replay.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/tracer/played.hpp"
#include "tracer/read/repair.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

TEST_CASE("states of tasks add up to the time that they were traced") {
    const Played played(small_trace());
    CHECK(spent(played, 0, State::kSending) == microseconds(100));
    CHECK(spent(played, 0, State::kCollective) == microseconds(310));
    CHECK(spent(played, 0, State::kComputing) == microseconds(590));
    CHECK(spent(played, 1, State::kReceiving) == microseconds(400));
    for (std::size_t task = 0; task < 4; ++task) {
        Time sum{0};
        for (const Time time : played.replay.state().tasks[task].spent) sum += time;
        CHECK(sum == microseconds(1000));
        CHECK(played.replay.state().tasks[task].state == State::kOff);
    }
}

TEST_CASE("messages and who waited for whom") {
    const Played played(small_trace());
    REQUIRE(played.notes.messages.size() == 2);
    CHECK(played.notes.messages[0].bytes == 100'000);
    std::vector<std::tuple<Wait::Why, TaskId, TaskId, Time>> waits;
    for (const Wait& wait : played.notes.waits)
        waits.emplace_back(wait.why, wait.task, wait.whom, wait.to - wait.from);
    using Why = Wait::Why;
    const decltype(waits) expected{{Why::kLateReceiver, 2, 3, microseconds(200)},
                                   {Why::kLateSender, 1, 0, microseconds(300)},
                                   {Why::kCollective, 0, 3, microseconds(300)},
                                   {Why::kCollective, 1, 3, microseconds(250)},
                                   {Why::kCollective, 2, 3, microseconds(200)}};
    CHECK(waits == expected);
    CHECK(played.definitions.site(played.notes.waits[0].site).address == 0x1234);
}

TEST_CASE("markers, progress and counters") {
    const Played played(small_trace());
    const Marks& marks = played.replay.state().marks.at(2);
    CHECK(marks.lights[2] == 63);
    CHECK(marks.text == "after meeting");
    CHECK(marks.done == 30);
    CHECK(marks.total == 100);
    CHECK(played.replay.state().counters.size() == 4);
}

TEST_CASE("a leave without its enter, and the other way round") {
    StreamWriter out = task_stream(0, 1);
    out.leave(us(10), kBrecvCall);
    out.enter(us(20), kSolve);
    out.enter(us(30), kBsendCall);
    out.leave(us(50), kSolve);  // the end of the send is lost
    out.enter(us(60), kBrecvCall, 0);
    const Played played(TraceSource::from_bytes(out.bytes(), "torn"));
    CHECK(spent(played, 0, State::kSending) == microseconds(20));
    const TaskTimeline& task = played.replay.state().tasks[0];
    REQUIRE(task.frames.size() == 1);
    CHECK(task.state == State::kReceiving);
    REQUIRE(played.notes.intervals.size() == 2);
    CHECK(played.notes.intervals[1].self() == microseconds(10));
}

TEST_CASE("messages are matched by number where they have one, else in order") {
    MessageMatcher matcher;
    const auto end = [](Time at, std::uint16_t number, Bytes bytes) {
        return Message{.from = 0,
                       .to = 1,
                       .type = 5,
                       .number = number,
                       .bytes = bytes,
                       .sent = at,
                       .received = at};
    };
    CHECK_FALSE(matcher.send(end(Time(1), 0, 10)));
    CHECK_FALSE(matcher.send(end(Time(2), 0, 20)));
    CHECK(matcher.receive(end(Time(3), 0, 0))->bytes == 10);
    CHECK(matcher.receive(end(Time(4), 0, 0))->bytes == 20);
    CHECK_FALSE(matcher.send(end(Time(5), 7, 70)));
    CHECK_FALSE(matcher.send(end(Time(6), 8, 80)));
    CHECK(matcher.receive(end(Time(7), 8, 0))->bytes == 80);
    CHECK_FALSE(matcher.receive(end(Time(8), 9, 0)));
    CHECK(matcher.waiting(true).size() == 1);
    CHECK(matcher.waiting(false).size() == 1);
    CHECK(matcher.send(end(Time(9), 9, 90))->bytes == 90);
}

TEST_CASE("what was received before it was sent is counted") {
    StreamWriter sender = task_stream(0, 2);
    StreamWriter receiver = task_stream(1, 2);
    send_call(sender, 100, 110, 1);
    receive_call(receiver, 50, 60, 0);
    const Played played(TraceSource::from_bytes(sender.bytes() + receiver.bytes(), "backwards"));
    CHECK(played.replay.state().backwards == 1);
    // The receiver has waited for it all the same, as far as its own clock tells.
    CHECK(waited(played, Wait::Why::kLateSender, 1, 0) == microseconds(10));
}

TEST_CASE("clocks are repaired until nothing arrives before it was sent") {
    // A chain 0 -> 1 -> 2 -> 0, of which 1 is 80 us too early and 2 another 80.
    std::vector<StreamWriter> tasks;
    tasks.reserve(3);
    for (TaskId task = 0; task < 3; ++task) tasks.push_back(task_stream(task, 3));
    for (std::uint64_t round = 0; round < 20; ++round) {
        const std::uint64_t at = 1000 + round * 100;
        send_call(tasks[0], at, at + 1, 1);
        receive_call(tasks[1], at - 80, at + 10 - 80, 0);
        send_call(tasks[1], at + 12 - 80, at + 13 - 80, 2);
        receive_call(tasks[2], at - 160, at + 22 - 160, 1);
        send_call(tasks[2], at + 24 - 160, at + 25 - 160, 0);
        receive_call(tasks[0], at + 30, at + 40, 2);
    }
    TraceSource source = TraceSource::from_bytes(gathered(tasks), "early");
    const Repaired repaired = repair_clocks(source);
    CHECK(repaired.messages == 40);
    CHECK(repaired.all);
    CHECK(repaired.farthest >= microseconds(138));
    CHECK(repaired.farthest < microseconds(160));
    const Played played(std::move(source));
    CHECK(played.replay.state().backwards == 0);
    CHECK(played.replay.state().messages == 60);
}

TEST_CASE("a message of more than 4 GB") {
    StreamWriter sender = task_stream(0, 2);
    StreamWriter receiver = task_stream(1, 2);
    send_call(sender, 100, 110, 1, Bytes{6} << 30);
    receive_call(receiver, 50, 160, 0, Bytes{6} << 30);
    const Played played(TraceSource::from_bytes(sender.bytes() + receiver.bytes(), "large"));
    REQUIRE(played.notes.messages.size() == 1);
    CHECK(played.notes.messages[0].bytes == Bytes{6} << 30);
}
