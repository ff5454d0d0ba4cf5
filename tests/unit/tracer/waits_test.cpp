// Who waited for whom: traces whose waits are known because they are made of them.
#include <catch2/catch.hpp>

#include "tests/unit/tracer/played.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;
using Why = Wait::Why;

namespace {

constexpr Bytes kLong = Bytes{4} << 20;

std::vector<StreamWriter> streams_of(TaskId tasks) {
    std::vector<StreamWriter> streams;
    for (TaskId task = 0; task < tasks; ++task) streams.push_back(task_stream(task, tasks));
    return streams;
}

Played played_of(const std::vector<StreamWriter>& streams) {
    return Played(TraceSource::from_bytes(gathered(streams), "waits"));
}

// mpc_send, which starts a message and does not wait for it.
void start_send(StreamWriter& out, std::uint64_t at, TaskId to, std::uint16_t number) {
    out.enter(us(at), kSendCall, static_cast<std::uint32_t>(to), 5, 1);
    out.send(us(at), static_cast<std::uint32_t>(to), 5, kLong, number);
    out.leave(us(at + 1), kSendCall);
}

}  // namespace

TEST_CASE("a sender waits for a late receiver, whatever it does next") {
    // The receiver comes 40 ms after the sender, ten times. The sender is back in its next send
    // before the receiver has noted the message.
    auto tasks = streams_of(2);
    for (std::uint64_t round = 0; round < 10; ++round) {
        const std::uint64_t at = 1000 + round * 41'000;
        send_call(tasks[0], at, at + 40'500, 1, kLong);
        receive_call(tasks[1], at + 40'000, at + 40'700, 0, kLong);
    }
    send_call(tasks[0], 1000 + 41'000 * 10, 1000 + 41'000 * 10 + 2, 1, 8);
    SECTION("with a pause between two sends") {}
    SECTION("without one") {
        tasks = streams_of(2);
        for (std::uint64_t round = 0; round < 10; ++round) {
            const std::uint64_t at = 1000 + round * 40'500;
            send_call(tasks[0], at, at + 40'500, 1, kLong);
            receive_call(tasks[1], at + 40'000, at + 40'700, 0, kLong);
        }
        send_call(tasks[0], 1000 + 405'000, 1000 + 405'400, 1, 8);
    }
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kLateReceiver, 0, 1) == microseconds(400'000));
    CHECK(waited(played, Why::kLateSender) == Time{0});
    for (const Wait& wait : played.notes.waits)
        CHECK(played.definitions.region(wait.region).name == "mpc_bsend");
}

TEST_CASE("many senders wait for one slow receiver") {
    // Eight senders come at once; the receiver takes their messages one by one, 5 ms apart. Each
    // sender has begun another call before its message is noted as received.
    auto tasks = streams_of(9);
    std::uint64_t expected = 0;
    for (std::uint64_t sender = 1; sender <= 8; ++sender) {
        const std::uint64_t came = 1000 + sender * 5000;
        send_call(tasks[sender], 1000, came + 300, 0, kLong);
        for (std::uint64_t more = 0; more < 5; ++more)
            send_call(tasks[sender], came + 301 + more * 2, came + 302 + more * 2, 0, 8);
        receive_call(tasks[0], came, came + 400, static_cast<TaskId>(sender), kLong);
        expected += came - 1000;
    }
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kLateReceiver) == microseconds(expected));
    CHECK(waited(played, Why::kLateReceiver, 8, 0) == microseconds(40'000));
}

TEST_CASE("a call that sends and receives waits for its receiver only after its own message came") {
    // Task 0 sends to task 1 and receives from task 2, whose message has come before. Task 1 enters
    // its call at 5000. The message of task 2 is noted at 8990, because task 0 had no processor, or
    // at 2000.
    constexpr auto kBothCall = static_cast<std::uint32_t>(Call::kBsendrecv);
    const std::uint64_t noted = GENERATE(8990, 2000);
    auto tasks = streams_of(3);
    send_call(tasks[2], 900, 905, 0, 8);
    tasks[0].enter(us(1000), kBothCall, 2, 5, 1);
    tasks[0].send(us(1001), 1, 5, 8, 0);
    tasks[0].receive(us(noted), 2, 5, 8, 0);
    tasks[0].leave(us(9000), kBothCall);
    receive_call(tasks[1], 5000, 5100, 0, 8);
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kLateSender) == Time{0});
    CHECK(waited(played, Why::kLateReceiver) == microseconds(noted == 2000 ? 3000 : 0));
}

TEST_CASE("a non-blocking send waits where it is waited for") {
    auto tasks = streams_of(3);
    const bool notes_ends = GENERATE(true, false);
    for (std::uint64_t round = 0; round < 10; ++round) {
        // Task 0 computes for 10 ms after mpc_send, and then waits 30 ms for the late receiver.
        const std::uint64_t at = 1000 + round * 50'000;
        start_send(tasks[0], at, 1, static_cast<std::uint16_t>(round + 1));
        tasks[0].enter(us(at + 10'000), kWaitCall, 1, 5, 1);
        if (notes_ends)
            tasks[0].send_ended(us(at + 40'500), 1, 5, static_cast<std::uint16_t>(round + 1));
        tasks[0].leave(us(at + 40'500), kWaitCall);
        tasks[0].enter(us(at + 40'501), kSolve);
        tasks[0].leave(us(at + 40'900), kSolve);
        receive_call(tasks[1], at + 40'000, at + 40'700, 0, kLong,
                     static_cast<std::uint16_t>(round + 1));
    }
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kLateReceiver, 0, 1) == microseconds(300'000));
    REQUIRE_FALSE(played.notes.waits.empty());
    CHECK(played.definitions.region(played.notes.waits[0].region).name == "mpc_wait");
    CHECK(played.replay.state().tasks[0].open_sends.empty());
}

TEST_CASE("a call waits only for what it has to wait for") {
    auto tasks = streams_of(3);
    SECTION("a message that is taken before the receiver asks for it holds up nobody") {
        send_call(tasks[0], 100, 105, 1, 8);
        receive_call(tasks[1], 900, 901, 0, 8);
        CHECK(played_of(tasks).notes.waits.empty());
    }
    SECTION("a receive that ends within a send does not make that send a late one") {
        tasks[0].enter(us(100), kBsendCall, 1, 5, 1);
        tasks[0].send(us(100), 1, 5, kLong, 1);
        tasks[0].receive(us(500), 2, 6, 8, 1);
        tasks[0].leave(us(900), kBsendCall);
        tasks[2].enter(us(400), kBsendCall, 0, 6, 1);
        tasks[2].send(us(400), 0, 6, 8, 1);
        tasks[2].leave(us(402), kBsendCall);
        receive_call(tasks[1], 800, 890, 0, kLong, 1);
        const Played played = played_of(tasks);
        CHECK(waited(played, Why::kLateSender) == Time{0});
        CHECK(waited(played, Why::kLateReceiver, 0, 1) == microseconds(700));
    }
    SECTION("a wait for one message does not wait for the others that come meanwhile") {
        tasks[0].enter(us(100), kWaitCall, 1, 5, 1);
        tasks[0].receive(us(301), 2, 5, 8, 1);
        tasks[0].receive(us(501), 1, 5, 8, 1);
        tasks[0].leave(us(502), kWaitCall);
        tasks[2].send(us(300), 0, 5, 8, 1);
        tasks[1].send(us(500), 0, 5, 8, 1);
        const Played played = played_of(tasks);
        CHECK(waited(played, Why::kLateSender, 0, 1) == microseconds(400));
        CHECK(waited(played, Why::kLateSender, 0, 2) == Time{0});
    }
    SECTION("a wait for all is not counted twice") {
        tasks[0].enter(us(100), kWaitCall, kNobody, 0, 1);
        tasks[0].receive(us(301), 2, 5, 8, 1);
        tasks[0].receive(us(501), 1, 5, 8, 1);
        tasks[0].leave(us(502), kWaitCall);
        tasks[2].send(us(300), 0, 5, 8, 1);
        tasks[1].send(us(500), 0, 5, 8, 1);
        const Played played = played_of(tasks);
        CHECK(waited(played, Why::kLateSender, 0, 2) == microseconds(200));
        CHECK(waited(played, Why::kLateSender, 0, 1) == microseconds(200));
    }
}

TEST_CASE("a message that seems to arrive before it was sent was waited for all the same") {
    auto tasks = streams_of(2);
    // By true time the receiver waits from 100 to 500; the sender's clock is 30 us ahead.
    receive_call(tasks[1], 100, 510, 0);
    send_call(tasks[0], 530, 535, 1);
    const Played played = played_of(tasks);
    CHECK(played.replay.state().backwards == 1);
    CHECK(waited(played, Why::kLateSender, 1, 0) == microseconds(410));
}

TEST_CASE("a late root of a broadcast that does not block") {
    // Everybody but task 0, the root, starts the broadcast at once and waits for it.
    auto tasks = streams_of(4);
    for (StreamWriter& out : tasks) {
        out.define(0, Defined::kRegion, kBcastCall, "mpc_bcast", 1);
        out.define(0, Defined::kRegion, kIbcastCall, "mpc_ibcast", 1);
        out.define(0, Defined::kRegion, kCollwaitCall, "mpc_collwait", 1);
    }
    const auto start = [](StreamWriter& out, std::uint64_t at) {
        out.enter(us(at), kIbcastCall, kNobody, 0, 1);
        out.collective(us(at), 7, 0, 0, 8, Phase::kStarts);
        out.leave(us(at + 1), kIbcastCall);
    };
    const auto end = [](StreamWriter& out, std::uint64_t from, std::uint64_t to) {
        out.enter(us(from), kCollwaitCall, kNobody, 0, 1);
        out.collective(us(from), 7, kNobody, 0, 0, Phase::kEnds);
        out.leave(us(to), kCollwaitCall);
    };
    start(tasks[0], 400'000);
    end(tasks[0], 400'010, 400'020);
    for (std::size_t task = 1; task < 4; ++task) {
        start(tasks[task], 10);
        end(tasks[task], 1000, 400'005);
    }
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kCollective) == 3 * microseconds(399'000));
    for (TaskId task = 1; task < 4; ++task)
        CHECK(waited(played, Why::kCollective, task, 0) == microseconds(399'000));
    CHECK(played.definitions.region(played.notes.waits[0].region).name == "mpc_collwait");
    CHECK(played.replay.meetings().empty());
    CHECK(played.replay.state().tasks[1].collectives == 1);
}

TEST_CASE("the root of a broadcast is waited for, not who comes after it") {
    auto tasks = streams_of(3);
    for (StreamWriter& out : tasks) out.define(0, Defined::kRegion, kBcastCall, "mpc_bcast", 1);
    const auto bcast = [](StreamWriter& out, std::uint64_t from, std::uint64_t to) {
        out.enter(us(from), kBcastCall, kNobody, 0, 1);
        out.collective(us(from), 1, 0, 0, 8);
        out.leave(us(to), kBcastCall);
    };
    bcast(tasks[0], 500, 501);
    bcast(tasks[1], 100, 520);
    bcast(tasks[2], 510, 515);
    const Played played = played_of(tasks);
    CHECK(waited(played, Why::kCollective, 1, 0) == microseconds(400));
    CHECK(waited(played, Why::kCollective, 1, 2) == microseconds(10));
}

TEST_CASE("asking again and again is polling, in the calls and between them") {
    auto tasks = streams_of(2);
    StreamWriter& out = tasks[0];
    const std::uint32_t call = GENERATE(kStatusCall, kProbeCall);
    out.define(0, Defined::kRegion, call, call == kStatusCall ? "mpc_status" : "mpc_probe");
    out.put(us(0), {.kind = Kind::kTracing, .detail = 1});
    // Polls from 100 to 500 us, 4 us apart; computes for 300; one poll of 1 us; computes on.
    for (std::uint64_t at = 100; at < 500; at += 5) {
        out.enter(us(at), call, 1, 5, 1);
        out.leave(us(at + 1), call);
    }
    out.enter(us(800), call, 1, 5, 1);
    out.leave(us(801), call);
    out.put(us(1000), {.kind = Kind::kTracing, .detail = 0});
    const Played played = played_of(tasks);
    CHECK(spent(played, 0, State::kPolling) == microseconds(396 + 1));
    CHECK(spent(played, 0, State::kComputing) == microseconds(1000 - 397));
    CHECK(spent(played, 0, State::kOther) == Time{0});
}
