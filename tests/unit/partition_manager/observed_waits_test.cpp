// Whether observed tasks can continue, from what they have counted.
#include "partition_manager/status/observed_waits.hpp"

#include <catch2/catch.hpp>

#include "base/contexts.hpp"
#include "partition_manager/status/wait_graph.hpp"

using namespace poe;
using namespace poe::pm;

namespace {

using Kind = ObservedNeed::Kind;
constexpr std::uint32_t kWorld = 16;

TaskState waiting(TaskId task, std::vector<ObservedNeed> needs) {
    TaskState state;
    state.task = task;
    state.life = TaskState::Life::kInside;
    state.observed = state.measured = true;
    state.doing.call = static_cast<Call>(kFirstMpiCall);
    state.unmoved_ms = 10'000;
    state.evidence.known = true;
    state.evidence.waits.resize(1);
    state.evidence.waits[0].needs = std::move(needs);
    return state;
}

std::vector<TaskId> stuck(const std::vector<TaskState>& states) {
    return find_deadlock(states, static_cast<TaskId>(states.size()), std::chrono::seconds(1)).stuck;
}

ObservedNeed message(TaskId from, std::int32_t tag, std::uint32_t number = 0) {
    return {Kind::kMessage, from, tag, kWorld, number};
}
ObservedNeed receive(TaskId by, std::int32_t tag, std::uint32_t number) {
    return {Kind::kReceive, by, tag, kWorld, number};
}

const std::vector<TaskId> kNobody;
const std::vector<TaskId> kBoth{0, 1};

}  // namespace

TEST_CASE("two tasks that receive first", "[observed_waits]") {
    std::vector<TaskState> states{waiting(0, {message(1, 3)}), waiting(1, {message(0, 3)})};
    CHECK(stuck(states) == kBoth);

    SECTION("a message that fits exists") {
        states[1].evidence.sends = {{kWorld, 0, 3, 1}};
        CHECK(stuck(states) == kNobody);
        states[0].evidence.receives = {{kWorld, 1, 3, 1}};  // it was received before
        CHECK(stuck(states) == kBoth);
    }
    SECTION("messages that do not fit") {
        states[1].evidence.sends = {{kWorld, 0, 4, 1}, {kWorld + 1, 0, 3, 1}, {kWorld, 2, 3, 1}};
        CHECK(stuck(states) == kBoth);
        resolve_observed_waits(states);
        CHECK(states[0].unexpected.count == 2);
    }
    SECTION("wildcards fit more") {
        states[0].evidence.waits[0].needs = {message(-1, -1)};
        CHECK(stuck(states) == kBoth);
        states[1].evidence.sends = {{kWorld, 0, 4, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a receive that was posted before waits for the message with its number") {
        states[0].evidence.waits[0].needs = {message(1, 3, 2)};
        states[0].evidence.receives = {{kWorld, 1, 3, 2}};
        states[1].evidence.sends = {{kWorld, 0, 3, 1}};
        CHECK(stuck(states) == kBoth);
        states[1].evidence.sends = {{kWorld, 0, 3, 2}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a task of which too little is known may continue") {
        states[1].evidence.known = false;
        CHECK(stuck(states) == kNobody);
        states[1].evidence.known = true;
        states[1].evidence.waits[0].needs = {{}};
        CHECK(stuck(states) == kNobody);
        states[1].evidence.waits[0].needs = {};
        CHECK(stuck(states) == kNobody);
        states[1].measured = false;
        CHECK(stuck(states) == kNobody);
    }
    SECTION("all of several requests") {
        states[0].evidence.waits[0].needs = {receive(1, 9, 1), message(1, 3, 1)};
        states[1].evidence.receives = {{kWorld, 0, 9, 1}};
        CHECK(stuck(states) == kBoth);
    }
}

TEST_CASE("two tasks that send first", "[observed_waits]") {
    std::vector<TaskState> states{waiting(0, {receive(1, 3, 1)}), waiting(1, {receive(0, 3, 1)})};
    CHECK(stuck(states) == kBoth);
    SECTION("the receive is posted") {
        states[1].evidence.receives = {{kWorld, 0, 3, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a pending receive with a wildcard may fit") {
        states[1].evidence.wildcards = 1;
        CHECK(stuck(states) == kNobody);
    }
    SECTION("the receiver is in a receive that fits, or that has a wildcard") {
        states[1].evidence.waits[0].needs = {message(0, 3)};
        CHECK(stuck(states) == kNobody);
        states[1].evidence.waits[0].needs = {message(0, -1)};
        CHECK(stuck(states) == kNobody);
        states[1].evidence.waits[0].needs = {message(0, 4)};
        CHECK(stuck(states) == kBoth);
    }
}

TEST_CASE("collective operations", "[observed_waits]") {
    const auto operation = [](std::uint32_t context, std::uint32_t number) {
        return ObservedNeed{Kind::kOperation, -1, -1, context, number};
    };
    std::vector<TaskState> states{waiting(0, {operation(kWorld, 4)}),
                                  waiting(1, {operation(20, 0)})};
    states[0].evidence.comms = {{kWorld, 5}, {20, 0}};
    states[1].evidence.comms = {{kWorld, 4}, {20, 1}};
    CHECK(stuck(states) == kBoth);
    SECTION("all have begun it") {
        states[1].evidence.comms = {{kWorld, 5}, {20, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a task that does not belong to the communicator does not count") {
        states[1].evidence.comms = {{20, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("the end of the program") {
        states[1].evidence.waits[0].needs = {{Kind::kAll, -1, -1, 0, 0}};
        CHECK(stuck(states) == kBoth);
    }
}

TEST_CASE("tasks that wait for one of several requests", "[observed_waits]") {
    std::vector<TaskState> states{waiting(0, {message(1, 3), message(2, 4)}),
                                  waiting(1, {message(0, 5)}), waiting(2, {message(1, 6)})};
    states[0].evidence.waits[0].one_suffices = true;
    const std::vector<TaskId> all{0, 1, 2};
    CHECK(stuck(states) == all);

    SECTION("one of the messages exists") {
        states[2].evidence.sends = {{kWorld, 0, 4, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("if all are needed, one that exists does not help") {
        states[2].evidence.sends = {{kWorld, 0, 4, 1}};
        states[0].evidence.waits[0].one_suffices = false;
        CHECK(stuck(states) == all);
    }
    SECTION("one of the senders can continue") {
        states[2].doing.call = Call::kNone;
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a task that can continue, but sends nothing that is needed") {
        states.push_back(waiting(3, {}));
        states[3].doing.call = Call::kNone;
        CHECK(stuck(states) == all);
        // A request for a message of any task could be ended by it.
        states[0].evidence.waits[0].needs = {message(1, 3), message(-1, 4)};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a request of which nothing is known may end at any time") {
        states[0].evidence.waits[0].needs.push_back({});
        CHECK(stuck(states) == kNobody);
    }
    SECTION("what is reported") {
        const auto found = find_deadlock(states, 3, std::chrono::seconds(1));
        CHECK_THAT(found.lines.front(),
                   Catch::Contains("for one of 2 requests, the first for tag 3 from task 1"));
    }
}

TEST_CASE("tasks in which several threads wait", "[observed_waits]") {
    const auto thread = [](std::vector<ObservedNeed> needs, Call call) {
        ThreadWait wait;
        wait.needs = std::move(needs);
        wait.doing.call = call;
        return wait;
    };
    const auto receives = static_cast<Call>(kFirstMpiCall);
    // Each task receives with two threads from the other, and nobody sends.
    std::vector<TaskState> states{waiting(0, {}), waiting(1, {})};
    for (TaskState& state : states) {
        const TaskId other = 1 - state.task;
        state.evidence.many_threads = true;
        state.evidence.waits = {thread({message(other, 3)}, receives),
                                thread({message(other, 4)}, receives)};
    }
    CHECK(stuck(states) == kBoth);

    SECTION("both waits are reported") {
        const auto found = find_deadlock(states, 2, std::chrono::seconds(1));
        CHECK_THAT(found.lines.front(),
                   Catch::Contains("for tag 3 from task 1, and with another thread in ") &&
                       Catch::Contains("for tag 4 from task 1"));
    }
    SECTION("the message of one thread exists") {
        states[1].evidence.sends = {{kWorld, 0, 4, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("the receive of that message has ended") {
        states[1].evidence.sends = {{kWorld, 0, 4, 1}};
        states[0].evidence.ended = {{kWorld, 1, 4, 1}};
        CHECK(stuck(states) == kBoth);
    }
    SECTION("a receive that is posted may get the message of another one") {
        states[1].evidence.sends = {{kWorld, 0, 4, 1}};
        states[0].evidence.receives = {{kWorld, 1, 4, 2}};
        states[0].evidence.waits[1].needs = {message(1, 4, 2)};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("of one thread nothing is known") {
        states[1].evidence.waits[1].needs = {{}};
        CHECK(stuck(states) == kNobody);
        states[1].evidence.waits[1].needs = {};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("one thread waits for a task that can continue") {
        states.push_back(waiting(2, {}));
        states[2].doing.call = Call::kNone;
        CHECK(stuck(states) == kBoth);
        states[0].evidence.waits[1].needs = {message(2, 4)};
        CHECK(stuck(states) == kNobody);
        states[0].evidence.waits[1].needs = {message(-1, 4)};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a thread waits for a message of its own task") {
        states[0].evidence.waits[1].needs = {message(0, 4)};
        CHECK(stuck(states) == kBoth);
        states[0].evidence.sends = {{kWorld, 0, 4, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a thread waits for one of several requests") {
        states[0].evidence.waits[1] = thread({message(1, 4), message(1, 5)}, receives);
        states[0].evidence.waits[1].one_suffices = true;
        CHECK(stuck(states) == kBoth);
        states[1].evidence.sends = {{kWorld, 0, 5, 1}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("MPI_Finalize beside another call") {
        states[0].evidence.waits[1].needs = {{Kind::kAll, -1, -1, 0, 0}};
        CHECK(stuck(states) == kNobody);
    }
    SECTION("a sender waits for a thread that receives") {
        states[1].evidence.waits = {thread({receive(0, 3, 1)}, receives)};
        CHECK(stuck(states) == kNobody);
        states[0].evidence.waits[0].needs = {message(1, 9)};
        CHECK(stuck(states) == kBoth);
    }
}
