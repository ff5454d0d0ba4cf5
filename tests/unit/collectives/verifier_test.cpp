// The verifier finds what is wrong with schedules.
#include "collectives/mpsim/verifier.hpp"

#include <catch2/catch.hpp>

#include "collectives/schedule/algorithms/algorithms.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

const Place kInput{Buffer::kInput, 0};
const Place kOutput{Buffer::kOutput, 0};

Shape shape_of(Operation operation, std::uint32_t n, Bytes bytes) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = bytes;
    return shape;
}

}  // namespace

TEST_CASE("sends that wait for their receives") {
    const Shape shift = [] {
        Shape shape = shape_of(Operation::kShift, 3, 4);
        shape.step = 1;
        shape.circular = true;
        return shape;
    }();
    // All send first and then receive: no message system has to get this through.
    const Generator head_on = [](Rank rank, Schedule& into) {
        into.send((rank + 1) % 3, kInput, 4, 0);
        into.wait();
        into.receive((rank + 2) % 3, kOutput, 4, 0);
        into.wait();
    };
    CHECK(verify(shift, head_on).find("never gets past step 1") != std::string::npos);
    CHECK(verify(shift, shift_direct(shift)).empty());
}

TEST_CASE("results") {
    const Shape combine = shape_of(Operation::kCombine, 2, 1);
    const auto exchange = [](bool wrong_order, bool twice) -> Generator {
        return [=](Rank rank, Schedule& into) {
            const Place received = into.work(1);
            into.copy(kInput, kOutput, 1);
            into.receive(1 - rank, received, 1, 0);
            into.send(1 - rank, kInput, 1, 0);
            into.wait();
            if ((rank == 0) != wrong_order) {
                into.append(received, kOutput, 1);
            } else {
                into.prepend(received, kOutput, 1);
            }
            if (twice) into.append(received, kOutput, 1);
        };
    };
    CHECK(verify(combine, exchange(false, false)).empty());
    CHECK(verify(combine, exchange(true, false)).find("out of rank order") != std::string::npos);
    CHECK(verify(combine, exchange(false, true)).find("twice") != std::string::npos);
    Shape commutative = combine;
    commutative.commutative = true;
    commutative.exact = true;
    CHECK(verify(commutative, exchange(true, false)).empty());

    const Shape bcast = shape_of(Operation::kBcast, 2, 2);
    CHECK(verify(bcast, [](Rank, Schedule&) {}).find("rank 1 has in byte 0") != std::string::npos);
    const Generator short_one = [](Rank rank, Schedule& into) {
        if (rank == 0) into.send(1, kOutput, 2, 0);
        if (rank == 1) into.receive(0, kOutput, 1, 0);
        into.wait();
    };
    CHECK(verify(bcast, short_one).find("which expects 1") != std::string::npos);
}

TEST_CASE("blocks that messages use") {
    const Shape bcast = shape_of(Operation::kBcast, 2, 2);
    const Generator hasty = [](Rank rank, Schedule& into) {
        const Place other = into.work(2);
        if (rank == 0) into.send(1, kOutput, 2, 0);
        if (rank == 1) {
            into.receive(0, other, 2, 0);
            into.copy(other, kOutput, 2);
        }
        into.wait();
    };
    CHECK(verify(bcast, hasty).find("a message is using") != std::string::npos);
    const Generator outside = [](Rank rank, Schedule& into) {
        if (rank == 0) into.send(1, kOutput + 1, 2, 0);
        if (rank == 1) into.receive(0, kOutput, 2, 0);
        into.wait();
    };
    CHECK(verify(bcast, outside).find("leaves a buffer") != std::string::npos);
    const Generator unwaited = [](Rank rank, Schedule& into) {
        if (rank == 0) into.send(1, kOutput, 2, 0);
        if (rank == 1) into.receive(0, kOutput, 2, 0);
    };
    CHECK(verify(bcast, unwaited).find("without waiting") != std::string::npos);
}

TEST_CASE("a sync that somebody leaves too early") {
    const Shape sync = shape_of(Operation::kSync, 4, 0);
    const Generator one_round = [](Rank rank, Schedule& into) {
        into.await_signal((rank + 3) % 4, 0);
        into.signal((rank + 1) % 4, 0);
        into.wait();
    };
    CHECK(verify(sync, one_round).find("before rank") != std::string::npos);
    CHECK(verify(sync, sync_dissemination(sync)).empty());
    // A broadcast is none.
    const Shape bcast = shape_of(Operation::kBcast, 4, 1);
    CHECK(verify(bcast, bcast_tree(bcast, split_in_half())).empty());
    CHECK_FALSE(verify(bcast, bcast_tree(bcast, split_in_half()), true).empty());
}
