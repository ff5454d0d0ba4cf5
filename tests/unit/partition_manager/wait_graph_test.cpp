// Deadlocks: which tasks can never go on, and what is said about them.
#include "partition_manager/status/wait_graph.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;
using Kind = Awaited::Kind;

namespace {

constexpr std::chrono::milliseconds kPatience{1000};

TaskState running(TaskId task) {
    TaskState state;
    state.task = task;
    state.life = TaskState::Life::kInside;
    return state;
}

TaskState ended(TaskId task) {
    TaskState state = running(task);
    state.life = TaskState::Life::kEnded;
    return state;
}

TaskState waiting(TaskId task, Call call, Kind kind, TaskId peer, std::int32_t type = 1,
                  Bytes bytes = 0) {
    TaskState state = running(task);
    state.doing = {call, peer, type, bytes, 1};
    state.awaited = {kind, peer, type};
    state.measured = true;
    state.unmoved_ms = 2000;
    state.unlooked_ms = 100;
    return state;
}

TaskState receives(TaskId task, TaskId from, std::int32_t type = 1) {
    return waiting(task, Call::kBrecv, Kind::kMessage, from, type);
}

TaskState sends(TaskId task, TaskId to, std::int32_t type, Bytes bytes) {
    return waiting(task, Call::kBsend, Kind::kRoom, to, type, bytes);
}

// `partner` is the one that the algorithm of the collective waits for at the moment.
TaskState synchronises(TaskId task, TaskId partner) {
    TaskState state = waiting(task, Call::kSync, Kind::kMessage, partner, 0);
    state.awaited.type = -1;
    return state;
}

TaskState flushes(TaskId task) {
    return waiting(task, Call::kFlush, Kind::kAll, -1, 0);
}

WaitFindings find(const std::vector<TaskState>& states) {
    return find_deadlock(states, static_cast<TaskId>(states.size()), kPatience);
}

using Tasks = std::vector<TaskId>;
using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("nobody waits", "[wait_graph]") {
    CHECK(find({}).stuck.empty());
    CHECK(find({running(0), running(1)}).stuck.empty());
    CHECK(find({ended(0), ended(1)}).stuck.empty());
}

TEST_CASE("a circle is told in its order", "[wait_graph]") {
    const WaitFindings found = find({running(0), running(1), running(2), receives(3, 5, 7),
                                     running(4), sends(5, 3, 2, 4000000)});
    CHECK(found.stuck == Tasks{3, 5});
    CHECK(found.cycles == std::vector<Tasks>{{3, 5}});
    CHECK(found.lines == Lines{"task 3 waits in mpc_brecv for type 7 from task 5",
                               "task 5 waits in mpc_bsend of 4000000 bytes, type 2, to task 3"});
    CHECK(found.headline() == "deadlock: tasks 3,5 wait for each other and can never go on");
}

TEST_CASE("who waits for a task that can go on is not stuck", "[wait_graph]") {
    CHECK(find({receives(0, 1), running(1)}).stuck.empty());
    CHECK(find({receives(0, 1), receives(1, 2), receives(2, 3), running(3)}).stuck.empty());
    CHECK(find({receives(0, -1), receives(1, 0), running(2)}).stuck.empty());
    // A task that nothing is known of, and one that has not called MPL.
    CHECK(find_deadlock(std::vector<TaskState>{receives(0, 1)}, 2, kPatience).stuck.empty());
    TaskState outside = running(1);
    outside.life = TaskState::Life::kOutside;
    CHECK(find({receives(0, 1), outside}).stuck.empty());
}

TEST_CASE("a wait counts when it is long, and its task runs", "[wait_graph]") {
    const auto with = [](auto change) {
        TaskState first = receives(0, 1);
        change(first);
        return find({first, receives(1, 0)}).stuck.size();
    };
    CHECK(with([](TaskState&) {}) == 2);
    CHECK(with([](TaskState& s) { s.unmoved_ms = 1000; }) == 2);
    CHECK(with([](TaskState& s) { s.unmoved_ms = 999; }) == 0);   // something moved
    CHECK(with([](TaskState& s) { s.unlooked_ms = 501; }) == 0);  // stopped, or starved
    CHECK(with([](TaskState& s) { s.measured = false; }) == 0);
    CHECK(with([](TaskState& s) { s.doing.call = Call::kNone; }) == 0);
}

TEST_CASE("a task of several threads is stuck if each of them is", "[wait_graph]") {
    // The first two tasks wait for each other; a second thread of task 0 waits for `peer`.
    const auto with = [](Kind kind, TaskId peer, TaskState last, bool known = true) {
        TaskState first = receives(0, 1, 7);
        first.evidence.many_threads = true;
        first.evidence.known = known;
        first.evidence.waits.resize(2);
        first.evidence.waits[0].doing = first.doing;
        first.evidence.waits[0].awaited = first.awaited;
        first.evidence.waits[1].doing = {Call::kBrecv, peer, 8, 0, 1};
        first.evidence.waits[1].awaited = {kind, peer, 8};
        return find({first, receives(1, 0), last});
    };
    CHECK(with(Kind::kMessage, 2, running(2)).stuck.empty());
    CHECK(with(Kind::kMessage, -1, running(2)).stuck.empty());
    CHECK(with(Kind::kUnknown, -1, running(2)).stuck.empty());
    CHECK(with(Kind::kMessage, 1, running(2)).stuck == Tasks{0, 1});
    CHECK(with(Kind::kMessage, 0, running(2)).stuck == Tasks{0, 1});
    CHECK(with(Kind::kMessage, 2, receives(2, 0)).stuck == Tasks{0, 1, 2});
    CHECK(with(Kind::kUnknown, -1, receives(2, 0)).stuck == Tasks{0, 1, 2});
    const WaitFindings found = with(Kind::kMessage, 2, ended(2));
    CHECK(found.stuck == Tasks{0, 1});
    CHECK(found.lines.at(0) ==
          "task 0 waits in mpc_brecv for type 7 from task 1, and with another "
          "thread in mpc_brecv for type 8 from task 2, which has ended");
    // Not known what the threads do; a task of another job; MPI_Finalize beside another call.
    CHECK(with(Kind::kMessage, 1, ended(2), false).stuck.empty());
    CHECK(with(Kind::kMessage, kTaskOfOtherJob, ended(2)).stuck.empty());
    CHECK(with(Kind::kAll, -1, ended(2)).stuck.empty());
}

TEST_CASE("tasks share a line if they wait at the same place of the program", "[wait_graph]") {
    std::vector<TaskState> states{receives(0, 2, 7), receives(1, 2, 7), ended(2)};
    states[0].place = states[1].place = "ring.c:42";
    CHECK(find(states).lines ==
          Lines{"tasks 0,1 wait in mpc_brecv for type 7 from task 2, which has "
                "ended, called at ring.c:42"});
    states[1].place = "ring.c:50";
    CHECK(find(states).lines.size() == 2);
}

TEST_CASE("waiting for a task that has ended", "[wait_graph]") {
    const WaitFindings found = find({receives(0, 2, 7), receives(1, 2, 7), ended(2)});
    CHECK(found.stuck == Tasks{0, 1});
    CHECK(found.cycles.empty());
    CHECK(found.lines ==
          Lines{"tasks 0,1 wait in mpc_brecv for type 7 from task 2, which has ended"});
    CHECK(found.headline() == "deadlock: tasks 0,1 can never go on");
}

TEST_CASE("waiting for anybody", "[wait_graph]") {
    const WaitFindings found = find({receives(0, -1, -1), receives(1, 0, 3), ended(2)});
    CHECK(found.stuck == Tasks{0, 1});
    CHECK(found.lines == Lines{"task 0 waits in mpc_brecv for a message of any type from any task,"
                               " and no task is left that could send one",
                               "task 1 waits in mpc_brecv for type 3 from task 0"});
    // A task alone cannot wake itself.
    CHECK(find({receives(0, -1)}).stuck == Tasks{0});
    // What is waited for is not known: anybody may be it.
    CHECK(find({waiting(0, Call::kWait, Kind::kUnknown, -1), running(1)}).stuck.empty());
    CHECK(find({waiting(0, Call::kWait, Kind::kUnknown, -1), receives(1, 0)}).stuck.size() == 2);
    CHECK(find({receives(0, 99), receives(1, 0)}).stuck.empty());
}

TEST_CASE("a collective call that not everybody makes", "[wait_graph]") {
    const WaitFindings found =
        find({synchronises(0, 2), synchronises(1, 0), synchronises(2, 3), receives(3, 0, 7)});
    CHECK(found.stuck == Tasks{0, 1, 2, 3});
    CHECK(found.cycles == std::vector<Tasks>{{0, 3}});
    CHECK(found.lines == Lines{"tasks 0-2 wait in mpc_sync for task 3",
                               "task 3 waits in mpc_brecv for type 7 from task 0"});
    const WaitFindings left = find({synchronises(0, 2), synchronises(1, 2), ended(2)});
    CHECK(left.lines == Lines{"tasks 0,1 wait in mpc_sync for task 2, which has ended"});
    CHECK(find({synchronises(0, 2), synchronises(1, 0), running(2)}).stuck.empty());
    // Two different calls, as in a program that mixes them up.
    TaskState broadcast = synchronises(1, 0);
    broadcast.doing.call = Call::kBcast;
    const WaitFindings mixed = find({synchronises(0, 1), broadcast});
    CHECK(mixed.lines ==
          Lines{"task 0 waits in mpc_sync for task 1", "task 1 waits in mpc_bcast for task 0",
                "their collective calls differ: with -euidevelop yes all members compare theirs, "
                "and the first difference is an error"});
    // Task 1 may have left a gather early, and the others wait for task 2.
    const WaitFindings early = find({synchronises(0, 2), broadcast, receives(2, 0)});
    CHECK(early.stuck == Tasks{0, 1, 2});
    CHECK(std::none_of(early.lines.begin(), early.lines.end(), [](const std::string& line) {
        return line.find("differ") != std::string::npos;
    }));
}

TEST_CASE("a call that is over when all that live have made it", "[wait_graph]") {
    const WaitFindings found =
        find({flushes(0), synchronises(1, 0), ended(2), synchronises(3, 1), flushes(4)});
    CHECK(found.stuck == Tasks{0, 1, 3, 4});
    CHECK(found.cycles == std::vector<Tasks>{{0, 1}});
    CHECK(found.lines == Lines{"tasks 0,4 wait in mpc_flush for tasks 1,3",
                               "tasks 1,3 wait in mpc_sync for tasks 0,2,4"});
    // One that is stuck is enough, whatever others may do.
    CHECK(find({flushes(0), receives(1, 0), running(2)}).stuck == Tasks{0, 1});
    CHECK(find({flushes(0), running(1)}).stuck.empty());
    CHECK(find({flushes(0), receives(1, 2), running(2)}).stuck.empty());
    // All have come; the answer is on its way.
    CHECK(find({flushes(0), flushes(1), ended(2)}).stuck.empty());
}

TEST_CASE("messages that were sent with another type or by another task", "[wait_graph]") {
    TaskState third = receives(3, 2, 7);
    third.unexpected.count = third.unexpected.noted = 4;
    third.unexpected.notes = {{{2, 8, 16}, {2, 8, 16}, {1, 7, 1}, {0, 5, 3}}};
    const WaitFindings found = find({ended(0), ended(1), receives(2, 3, 9), third});
    CHECK(found.lines ==
          Lines{"task 2 waits in mpc_brecv for type 9 from task 3",
                "task 3 waits in mpc_brecv for type 7 from task 2",
                "task 2 sent type 8 (16 bytes) to task 3; task 3 waits for type 7 from task 2",
                "task 1 sent type 7 (1 byte) to task 3; task 3 waits for type 7 from task 2"});
}

TEST_CASE("with nothing nearer, any message that nobody asked for is named", "[wait_graph]") {
    TaskState third = receives(3, 0, 7);
    third.unexpected.count = third.unexpected.noted = 1;
    third.unexpected.notes = {{{2, 8, 16}}};
    const WaitFindings found = find({receives(0, 3, 1), ended(1), receives(2, 3, 9), third});
    REQUIRE(found.lines.size() == 4);
    CHECK(found.lines[3] ==
          "task 2 sent type 8 (16 bytes) to task 3; task 3 waits for type 7 from task 0");
}

TEST_CASE("a thousand tasks take a screen", "[wait_graph]") {
    std::vector<TaskState> states;
    for (TaskId task = 0; task < 1000; ++task) {
        states.push_back(receives(task, (task + 1) % 1000));
        states.back().unexpected.count = states.back().unexpected.noted = 1;
        states.back().unexpected.notes[0] = {(task + 1) % 1000, 2, 1};
    }
    const WaitFindings found = find(states);
    CHECK(found.stuck.size() == 1000);
    CHECK(found.cycles.size() == 1);
    CHECK(found.cycles[0].size() == 1000);
    CHECK(found.lines.size() <= 24);
    CHECK(found.lines[12] == "tasks 12-999 wait for these or each other in the same way");
}

// The definition, by trying every set of tasks: the union of all sets whose members wait, and whose
// wakers all are members or have ended; of one that waits for all, one waker as a member is enough.
namespace {

std::vector<TaskId> stuck_by_definition(const std::vector<TaskState>& states) {
    const std::size_t n = states.size();
    unsigned stuck = 0;
    for (unsigned set = 1; set < 1u << n; ++set) {
        const auto closed = [&] {
            for (std::size_t task = 0; task < n; ++task) {
                if ((set >> task & 1u) == 0) continue;
                const TaskState& state = states[task];
                if (!state.stuck_for(kPatience)) return false;
                bool kept = state.awaited.kind != Kind::kAll;
                for (std::size_t other = 0; other < n && !kept; ++other)
                    kept = (set >> other & 1u) != 0 && states[other].awaited.kind != Kind::kAll;
                if (!kept) return false;
                if (state.awaited.kind == Kind::kAll) continue;
                for (std::size_t waker = 0; waker < n; ++waker) {
                    const bool could = waker != task && (state.awaited.peer < 0 ||
                                                         state.awaited.kind == Kind::kUnknown ||
                                                         state.awaited.peer == states[waker].task);
                    const bool gone = states[waker].life == TaskState::Life::kEnded;
                    if (could && !gone && (set >> waker & 1u) == 0) return false;
                }
            }
            return true;
        };
        if (closed()) stuck |= set;
    }
    std::vector<TaskId> result;
    for (std::size_t task = 0; task < n; ++task)
        if ((stuck >> task & 1u) != 0) result.push_back(static_cast<TaskId>(task));
    return result;
}

// Every circle is one: each member waits for the next, or for all.
bool circles_are_right(const std::vector<TaskState>& states, const WaitFindings& found) {
    for (const Tasks& circle : found.cycles)
        for (std::size_t i = 0; i < circle.size(); ++i)
            if (const Awaited& awaited = states[static_cast<std::size_t>(circle[i])].awaited;
                awaited.kind != Kind::kAll && awaited.peer != circle[(i + 1) % circle.size()])
                return false;
    return true;
}

}  // namespace

TEST_CASE("random graphs against the definition", "[wait_graph]") {
    std::mt19937 random(1);
    const auto below = [&](int limit) {
        return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    int deadlocks = 0;
    for (int round = 0; round < 20000; ++round) {
        const int n = 1 + below(7);
        const int awake_in_ten = below(4);
        std::vector<TaskState> states;
        for (TaskId task = 0; task < n; ++task) {
            const int choice = below(10);
            if (choice < awake_in_ten) {
                states.push_back(running(task));
            } else if (choice == 9) {
                states.push_back(ended(task));
            } else if (below(6) == 0) {
                states.push_back(flushes(task));
            } else {
                states.push_back(receives(task, below(8) == 0 ? -1 : below(n)));
                if (below(20) == 0) states.back().awaited.kind = Kind::kUnknown;
                if (below(20) == 0) states.back().unmoved_ms = 10;
            }
        }
        const WaitFindings found = find(states);
        REQUIRE(found.stuck == stuck_by_definition(states));
        REQUIRE(circles_are_right(states, found));
        REQUIRE(found.lines.empty() == found.stuck.empty());
        deadlocks += found.stuck.empty() ? 0 : 1;
    }
    CHECK(deadlocks > 2000);
    CHECK(deadlocks < 18000);
}
