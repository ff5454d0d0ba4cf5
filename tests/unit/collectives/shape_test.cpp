// What a rank gives to an operation and gets from it.
#include "collectives/schedule/shape.hpp"

#include <catch2/catch.hpp>

using namespace poe::collectives;

namespace {

Shape shape_of(Operation operation) {
    Shape shape;
    shape.operation = operation;
    shape.n = 4;
    shape.root = 1;
    shape.bytes = 10;
    return shape;
}

}  // namespace

TEST_CASE("bytes that a rank gives and gets") {
    CHECK(transfer_of(shape_of(Operation::kSync), 0) == Transfer{0, 0});
    CHECK(transfer_of(shape_of(Operation::kBcast), 1) == Transfer{10, 0});
    CHECK(transfer_of(shape_of(Operation::kBcast), 2) == Transfer{0, 10});
    CHECK(transfer_of(shape_of(Operation::kReduce), 1) == Transfer{10, 10});
    CHECK(transfer_of(shape_of(Operation::kReduce), 0) == Transfer{10, 0});
    CHECK(transfer_of(shape_of(Operation::kCombine), 3) == Transfer{10, 10});
    CHECK(transfer_of(shape_of(Operation::kScatter), 1) == Transfer{40, 10});
    CHECK(transfer_of(shape_of(Operation::kScatter), 0) == Transfer{0, 10});
    CHECK(transfer_of(shape_of(Operation::kGather), 1) == Transfer{10, 40});
    CHECK(transfer_of(shape_of(Operation::kConcat), 0) == Transfer{10, 40});
    CHECK(transfer_of(shape_of(Operation::kIndex), 0) == Transfer{40, 40});
}

TEST_CASE("bytes of unequal blocks") {
    Shape gather = shape_of(Operation::kGather);
    gather.offsets = {0, 1, 3, 6, 10};
    CHECK(transfer_of(gather, 2) == Transfer{3, 0});
    CHECK(transfer_of(gather, 1) == Transfer{2, 10});
    Shape index = shape_of(Operation::kIndex);
    index.n = 2;
    index.matrix = {1, 2, 3, 4};
    CHECK(transfer_of(index, 0) == Transfer{3, 4});
    CHECK(transfer_of(index, 1) == Transfer{7, 6});
}
