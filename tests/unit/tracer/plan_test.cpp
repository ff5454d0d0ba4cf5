// Loops of messages that are really a collective call.
#include <catch2/catch.hpp>

#include "tracer/plan/pattern_finder.hpp"

using namespace poe;
using namespace poe::trace;

namespace {

// Three rounds of all messages in which wanted(from, to) bytes are not 0.
template <typename Wanted>
SentFromPlace three_rounds(TaskId tasks, const Wanted& wanted) {
    SentFromPlace sent;
    for (int round = 0; round < 3; ++round)
        for (TaskId from = 0; from < tasks; ++from)
            for (TaskId to = 0; to < tasks; ++to)
                if (const auto bytes = static_cast<Bytes>(to == from ? 0 : wanted(from, to));
                    bytes > 0)
                    sent[from].push_back({to, bytes});
    return sent;
}

}  // namespace

TEST_CASE("rounds of messages are named as the collective call that they are") {
    const auto name = [](const auto& wanted) {
        const MessageRounds found = rounds_of(three_rounds(4, wanted));
        CHECK(found.rounds == 3);
        return collective_of(found);
    };
    CHECK(name([](TaskId, TaskId) { return 8; }) ==
          "MPI_Alltoall (mpc_index) of tasks 0-3, 8 bytes each");
    CHECK(name([](TaskId from, TaskId to) { return 8 + from + to; }) ==
          "MPI_Alltoallv (mpc_indexv) of tasks 0-3, of unequal lengths");
    CHECK(name([](TaskId from, TaskId to) {
              return to == (from + 1) % 4 ? 8 : 0;
          }).find("a shift") == 0);
    CHECK(name([](TaskId from, TaskId) {
              return from == 2 ? 8 : 0;
          }).find("MPI_Scatter or MPI_Bcast") == 0);
    CHECK(name([](TaskId from, TaskId to) {
              return from == 2 ? 8 + to : 0;
          }).find("MPI_Scatterv") == 0);
    CHECK(name([](TaskId, TaskId to) { return to == 1 ? 8 : 0; }).find("MPI_Gather or") == 0);
    CHECK(name([](TaskId from, TaskId to) {
              return (from ^ to) == 1 || to == 0 ? 8 : 0;
          }).find("MPI_Neighbor_alltoallv") == 0);
}

TEST_CASE("messages that differ between rounds are no collective call") {
    CHECK(rounds_of({{0, {{1, 8}, {1, 8}, {1, 9}}}}).rounds == 0);          // a length
    CHECK(rounds_of({{0, {{1, 8}, {2, 8}, {1, 8}}}}).rounds == 0);          // half a round
    CHECK(rounds_of({{0, {{1, 8}, {2, 8}, {1, 8}, {3, 8}}}}).rounds == 0);  // a destination
    CHECK(rounds_of({{0, {{1, 8}, {1, 8}}}, {1, {{0, 8}}}}).rounds == 0);   // numbers of rounds
    CHECK(rounds_of({{0, {{1, 8}}}, {1, {{0, 8}}}}).rounds == 0);           // one round only
    CHECK(rounds_of({{0, {{1, 8}, {2, 9}, {2, 9}, {1, 8}}}}).rounds == 2);  // the order may differ
}
