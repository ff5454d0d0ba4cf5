// The comparison of descriptions of a collective call.
#include "mpi/check/judge.hpp"

#include <catch2/catch.hpp>

using namespace poe::mpi::check;
using poe::mpi::Fault;
using poe::mpi::find_predefined_datatype;
using poe::mpi::value_of;

namespace {

Part ints(std::int64_t count) {
    return part_of(MPI_INT, count);
}

Description make(const char* function) {
    Description made;
    made.function = function;
    return made;
}

std::vector<Member> members_of(const std::vector<Description>& descriptions, int first_group) {
    std::vector<Member> members;
    for (int i = 0; i < static_cast<int>(descriptions.size()); ++i)
        members.push_back({i, i < first_group ? 0 : 1, i < first_group ? i : i - first_group,
                           descriptions[static_cast<std::size_t>(i)]});
    return members;
}

Fault judged(const std::vector<Description>& descriptions, int first_group = 64) {
    return judge(members_of(descriptions, first_group));
}

Description rooted(int root, bool is_root, const Part& part) {
    Description made = make("MPI_Bcast");
    made.agree("root", root, MPI_ERR_ROOT);
    (is_root ? made.sent : made.received) = {Flow::Kind::kSame, {part}, {}};
    return made;
}

}  // namespace

TEST_CASE("equal calls are accepted", "[judge]") {
    CHECK_FALSE(judged({make("MPI_Barrier")}));
    CHECK_FALSE(judged({make("MPI_Barrier"), make("MPI_Barrier"), make("MPI_Barrier")}));
    CHECK_FALSE(judged({rooted(0, true, ints(4)), rooted(0, false, ints(4))}));
}

TEST_CASE("the smaller number of members is named first", "[judge]") {
    const Fault fault = judged({make("MPI_Bcast"), make("MPI_Barrier"), make("MPI_Bcast")});
    CHECK(fault.code == MPI_ERR_OTHER);
    CHECK(fault.what.find("task 1 calls") == 0);
    CHECK(fault.what.find("tasks 0,2 call") != std::string::npos);
}

TEST_CASE("an argument that differs is named with its values", "[judge]") {
    const Fault fault =
        judged({rooted(0, true, ints(4)), rooted(1, false, ints(4)), rooted(0, false, ints(4))});
    CHECK(fault.code == MPI_ERR_ROOT);
    CHECK(fault.what.find("with root 1") < fault.what.find("with root 0"));
}

TEST_CASE("a member that cannot make its call comes before all other rules", "[judge]") {
    Description failed = make("MPI_Barrier");
    failed.fail({MPI_ERR_COUNT, "count", "-1 is negative", ""});
    const Fault fault = judged({make("MPI_Bcast"), failed});
    CHECK(fault.code == MPI_ERR_COUNT);
    CHECK(fault.what.find("task 1 cannot make its call") == 0);
    CHECK(fault.what.find("argument count: -1 is negative") != std::string::npos);
}

TEST_CASE("signatures match in pairs", "[judge]") {
    CHECK(judged({rooted(0, true, ints(4)), rooted(0, false, ints(5))}).code == MPI_ERR_COUNT);
    CHECK(judged({rooted(0, true, ints(4)), rooted(0, false, ints(3))}).code == MPI_ERR_TRUNCATE);
    CHECK(judged({rooted(0, true, ints(4)), rooted(0, false, part_of(MPI_FLOAT, 4))}).code ==
          MPI_ERR_TYPE);
    CHECK_FALSE(judged({rooted(0, true, ints(4)), rooted(0, false, part_of(MPI_PACKED, 16))}));
    CHECK_FALSE(judged({rooted(0, true, ints(0)), rooted(0, false, part_of(MPI_FLOAT, 0))}));
    // Member 0 sends one element to itself and two to member 1.
    Description first = make("MPI_Alltoallv");
    first.sent = {Flow::Kind::kEach, {ints(1), ints(2)}, {}};
    first.received = {Flow::Kind::kEach, {ints(1), ints(3)}, {}};
    Description second = make("MPI_Alltoallv");
    second.sent = {Flow::Kind::kEach, {ints(3), ints(0)}, {}};
    second.received = {Flow::Kind::kEach, {ints(2), ints(0)}, {}};
    CHECK_FALSE(judged({first, second}));
    second.received.parts[0] = ints(1);
    CHECK(judged({first, second}).code == MPI_ERR_TRUNCATE);
}

TEST_CASE("blocks of the same two neighbours match in order", "[judge]") {
    Description first = make("MPI_Neighbor_alltoallv");
    first.sent = {Flow::Kind::kNeighbors, {ints(1), ints(2)}, {1, 1}};
    first.received = {Flow::Kind::kNeighbors, {}, {}};
    Description second = make("MPI_Neighbor_alltoallv");
    second.sent = {Flow::Kind::kNeighbors, {}, {}};
    second.received = {Flow::Kind::kNeighbors, {ints(1), ints(2)}, {0, 0}};
    CHECK_FALSE(judged({first, second}));
    std::swap(second.received.parts[0], second.received.parts[1]);
    CHECK(judged({first, second}).code == MPI_ERR_COUNT);
}

TEST_CASE("on an intercommunicator one member is the root of the other group", "[judge]") {
    const auto with_root = [](int root) {
        Description made = make("MPI_Bcast");
        made.root = root;
        return made;
    };
    const auto roots = [&](int a, int b, int c, int d) {
        return judged({with_root(a), with_root(b), with_root(c), with_root(d)}, 2).code;
    };
    CHECK(roots(MPI_PROC_NULL, MPI_ROOT, 1, 1) == MPI_SUCCESS);
    CHECK(roots(0, 0, MPI_ROOT, MPI_PROC_NULL) == MPI_SUCCESS);
    CHECK(roots(MPI_PROC_NULL, MPI_ROOT, 1, 0) == MPI_ERR_ROOT);
    CHECK(roots(MPI_ROOT, MPI_ROOT, 1, 1) == MPI_ERR_ROOT);
    CHECK(roots(MPI_PROC_NULL, MPI_PROC_NULL, 1, 1) == MPI_ERR_ROOT);
}

TEST_CASE("groups of disjoint members may differ", "[judge]") {
    const auto with_group = [](std::vector<std::int32_t> tasks) {
        Description made = make("MPI_Comm_create");
        made.has_group = true;
        made.group = std::move(tasks);
        return made;
    };
    CHECK_FALSE(judged({with_group({0, 1}), with_group({0, 1}), with_group({2})}));
    // A member outside of all groups may give any of them.
    CHECK_FALSE(judged({with_group({0, 1}), with_group({0, 1}), with_group({0, 1})}));
    CHECK(judged({with_group({0, 1}), with_group({1, 0}), with_group({})}).code == MPI_ERR_GROUP);
    CHECK(judged({with_group({0, 1}), with_group({}), with_group({})}).code == MPI_ERR_GROUP);
}

TEST_CASE("a description survives its way through a message", "[judge]") {
    Description sent = rooted(2, true, ints(7));
    sent.has_group = true;
    sent.group = {3, 1, 2};
    sent.received = {Flow::Kind::kNeighbors, {ints(1), ints(2)}, {4, 5}};
    sent.fail({MPI_ERR_ARG, "color", "it is wrong", ""});
    const std::vector<std::byte> bytes = encode(sent);
    Description received;
    REQUIRE(decode(bytes, received));
    CHECK(received.function == sent.function);
    CHECK(received.agreed == sent.agreed);
    CHECK(received.group == sent.group);
    CHECK(received.reason == sent.reason);
    CHECK(received.received.peers == sent.received.peers);
    CHECK(encode(received) == bytes);
    // No prefix is a description, and none is read beyond its end.
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        Description part;
        CHECK_FALSE(decode(std::span(bytes).first(length), part));
    }
}
