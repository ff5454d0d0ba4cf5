// The words of `messages`.
#include "debugger/queue_words.hpp"

#include <catch2/catch.hpp>

#include "base/contexts.hpp"

using namespace poe;
using debugger::queue_lines;
using Lines = std::vector<std::string>;

namespace {

pm::TaskState inside() {
    pm::TaskState state;
    state.life = pm::TaskState::Life::kInside;
    state.queues.state = pm::MessageQueues::State::kRead;
    return state;
}

}  // namespace

TEST_CASE("queues in words") {
    pm::TaskState state = inside();
    CHECK(queue_lines(state) == Lines{"posted receives: none", "messages without a receive: none"});
    const pm::PostedNote any{-1, -1, 1, kMplContext, false};
    state.queues.posted = {any, any, {2, 5, 8, kFirstMpiContext, true}};
    state.queues.posted_count = 5;
    state.queues.unexpected = {{1, 6, 0, kFirstMpiContext + 2}};
    state.queues.unexpected_count = 1;
    CHECK(queue_lines(state) ==
          Lines{"posted receives:", "  any type from any task, at most 1 byte (2 times)",
                "  tag 5 from task 2 in MPI_COMM_WORLD, at most 8 bytes (the task waits for it)",
                "  and 2 more",
                "messages without a receive:", "  tag 6 from task 1 in communicator 2, 0 bytes"});
    CHECK(queue_lines(state, 1).at(2) == "  and 3 more");
    state.queues.posted.erase(state.queues.posted.begin(), state.queues.posted.begin() + 2);
    state.queues.posted_count = 1;
    CHECK(queue_lines(state).at(0) == "posted receives: only that of the call");
    state.measured = true;
    state.doing.context = kFirstMpiContext + 2;
    state.communicator = "rows";
    CHECK(queue_lines(state).back() == "  tag 6 from task 1 in rows, 0 bytes");
}

TEST_CASE("queues that cannot be read are not invented") {
    pm::TaskState state = inside();
    state.queues.state = pm::MessageQueues::State::kChanging;
    state.unexpected.count = 1;
    state.unexpected.noted = 1;
    state.unexpected.notes[0] = {3, 4, 5, kMplContext};
    const Lines lines = queue_lines(state);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].find("changing at this moment") != std::string::npos);
    CHECK(lines[2] == "  type 4 from task 3, 5 bytes");
    state.queues.state = pm::MessageQueues::State::kForbidden;
    CHECK(queue_lines(state)[0].find("kernel") != std::string::npos);
    state.life = pm::TaskState::Life::kEnded;
    CHECK(queue_lines(state).empty());
}
