// The text of plans, and how notices spread.
#include "collectives/schedule/plan_file.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::collectives;

namespace {

PlannedCall planned(std::vector<TaskId> tasks, std::vector<Bytes> lengths) {
    PlannedCall call;
    call.operation = "alltoallv";
    call.group = 3;
    call.tasks = std::move(tasks);
    call.first = 1;
    call.every = 2;
    call.calls = 50;
    call.schedule = PhaseMethod::kGreedy;
    call.lengths = std::move(lengths);
    call.site = "sort at is.c:220";
    return call;
}

std::string mistake_in(const std::string& text) {
    const auto read = read_plan(text, "p");
    return read ? "" : read.error().str();
}

}  // namespace

TEST_CASE("a line of a plan is compact") {
    CHECK(plan_line(
              planned({0, 1, 2, 7}, {0, 8192, 8192, 8192, 5, 0, 0, 0, 1, 2, 0, 4, 0, 0, 0, 0})) ==
          "alltoallv group=3 tasks=0-2,7 first=1 every=2 calls=50 schedule=greedy "
          "lengths=0,8K*3/5,0*3/1,2,0,4/0*4 at=\"sort at is.c:220\"");
    PlannedCall combined = planned({0, 1}, {0, 8, 9, 0});
    combined.schedule = PhaseMethod::kCombined;
    combined.radix = 4;
    combined.limit = 2048;
    CHECK(plan_line(combined).find("schedule=combined radix=4 limit=2K lengths=0,8/9,0") !=
          std::string::npos);
    PlannedCall bcast;
    bcast.operation = "bcast";
    bcast.tasks = {4};
    bcast.bytes = 80;
    bcast.calls = 2;
    CHECK(plan_line(bcast) == "bcast group=0 tasks=4 calls=2 bytes=80");
}

TEST_CASE("what is written is read again") {
    std::minstd_rand random(1);
    for (int i = 0; i < 200; ++i) {
        std::vector<TaskId> tasks;
        for (TaskId task = 0; task < 12; ++task)
            if (random() % 2 == 0) tasks.push_back(task);
        if (tasks.empty()) continue;
        std::vector<Bytes> lengths(tasks.size() * tasks.size());
        for (Bytes& each : lengths) each = random() % 3 == 0 ? random() : random() % 3 * 1024;
        PlannedCall call = planned(tasks, lengths);
        if (i % 2 == 0) {
            call.schedule = PhaseMethod::kCombined;
            call.radix = 2 + static_cast<std::uint32_t>(random() % 9);
            call.limit = 1 + random() % kMostCombined;
        }
        const auto read = read_plan("# a comment\n\n" + plan_line(call) + "  # why\n", "p");
        REQUIRE(read);
        REQUIRE(read.value().size() == 1);
        CHECK(read.value()[0] == call);
    }
}

TEST_CASE("mistakes in a plan are named with their line") {
    CHECK(mistake_in("alltoallv tasks=0-1\nbcast task=0\n").find("p:2: there is no key \"task\"") ==
          0);
    CHECK(mistake_in("alltoallv tasks=1-0\n").find("p:1: tasks=1-0 is not allowed") == 0);
    CHECK(mistake_in("alltoallv tasks=0,0\n").find("p:1: tasks=0,0 is not allowed") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 lengths=0,1/2\n").find("p:1: lengths=0,1/2") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 lengths=0*9/2,0\n").find("p:1: lengths=0*9") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 lengths=0*2/0*2/0*2\n").find("p:1: lengths=") == 0);
    CHECK(mistake_in("alltoallv lengths=0 tasks=0\n").find("p:1: lengths=0 is not allowed") == 0);
    CHECK(mistake_in("alltoallv tasks=0 every=0\n").find("p:1: every=0") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 schedule=combined radix=2\n")
              .find("p:1: schedule=combined needs a radix and a limit") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 radix=1\n").find("p:1: radix=1 is not allowed") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 limit=33K\n").find("p:1: limit=33K is not") == 0);
    CHECK(mistake_in("alltoallv tasks=0-1 limit=0\n").find("p:1: limit=0 is not") == 0);
    CHECK(mistake_in("alltoallv group=0\n").find("p:1: the line has no tasks") == 0);
    CHECK(mistake_in("alltoallv tasks=0 at=\"x\n").find("p:1: a quotation mark") == 0);
}

TEST_CASE("notices spread along long messages only") {
    const Bytes l = kShortBlock;
    CHECK(calls_to_reach_all(3, {{0, 1, l}, {1, 2, l}, {2, 0, l}}) == 2);
    CHECK(calls_to_reach_all(3, {{0, 1, l}, {1, 2, l}, {2, 0, l - 1}}) == 0);
    CHECK(calls_to_reach_all(2, {{0, 1, l}, {1, 0, l}}) == 1);
    CHECK(calls_to_reach_all(
              4, {{0, 1, l}, {1, 0, l}, {1, 2, l}, {2, 1, l}, {2, 3, l}, {3, 2, l}}) == 3);
}

TEST_CASE("a length fits the plan within a factor of 2") {
    CHECK(fits_plan(0, 0));
    CHECK(fits_plan(100, 200));
    CHECK(fits_plan(200, 100));
    CHECK_FALSE(fits_plan(100, 201));
    CHECK_FALSE(fits_plan(201, 100));
    CHECK_FALSE(fits_plan(0, 1));
    CHECK_FALSE(fits_plan(1, 0));
}

TEST_CASE("phases are decided by the long messages that one rank receives") {
    std::vector<PhasedMessage> messages;
    for (std::uint32_t from = 1; from < kMostLongSenders; ++from)
        messages.push_back({from, 0, kLongBlock + 1});
    CHECK(decide_phases(20, messages, PhaseMethod::kAutomatic).method == PhaseMethod::kSimple);
    CHECK(decide_phases(20, messages, PhaseMethod::kGreedy).phases.size() == kMostLongSenders - 1);
    messages.push_back({kMostLongSenders, 0, kLongBlock + 1});
    const PhaseDecision decision = decide_phases(20, messages, PhaseMethod::kAutomatic);
    CHECK(decision.method != PhaseMethod::kSimple);
    CHECK(decision.long_senders == kMostLongSenders);
    CHECK(decision.phases.size() == kMostLongSenders);
}
