// The choice between single copy and shared memory, for machines of both kinds.
#include "collectives/shm/copy_costs.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::collectives;

namespace {

Shape shape_of(Operation operation, std::uint32_t n, Bytes bytes) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = bytes;
    return shape;
}

}  // namespace

TEST_CASE("single copy wins from the length on where its start is paid back") {
    // 400 ns and 26 GB/s, against copies at 16 GB/s.
    const CopyCosts cheap{400, 1 / 26.0, 1 / 16.0};
    const Shape index = shape_of(Operation::kIndex, 4, 0);
    const Bytes from = shortest_single_copy(cheap, index);
    CHECK(from > 4000);
    CHECK(from < 5000);
    const auto time = [&](Bytes bytes) { return 400 + static_cast<double>(bytes) / 26.0; };
    CHECK(time(from) <= 2 * static_cast<double>(from) / 16.0);
    CHECK(time(from - 2) > 2 * static_cast<double>(from - 2) / 16.0);
    // Fewer copies through shared memory make it later.
    CHECK(shortest_single_copy(cheap, shape_of(Operation::kConcat, 6, 0)) > from);
    // If two members share a copy, each copies one half.
    CHECK(shortest_single_copy(cheap, shape_of(Operation::kGather, 2, 0)) == 2 * from);
    CHECK(shortest_single_copy(cheap, shape_of(Operation::kGather, 3, 0)) == from);
    CHECK(shortest_single_copy(cheap, shape_of(Operation::kIndex, 2, 0)) == from);
    // 850 ns and 11 GB/s, against copies at 37 GB/s: never.
    CHECK(shortest_single_copy({850, 1 / 11.0, 1 / 37.0}, index) == kNeverShorter);
    CHECK(shortest_single_copy({400, 1 / 8.0, 1 / 16.0}, index) == kNeverShorter);
}

TEST_CASE("what is compared depends on the operation") {
    CHECK(shared_copies_of(shape_of(Operation::kIndex, 4, 65536)) == 2);
    CHECK(shared_copies_of(shape_of(Operation::kConcat, 2, 65536)) == 2);
    CHECK(shared_copies_of(shape_of(Operation::kConcat, 5, 65536)) == 1.25);
    CHECK(shared_copies_of(shape_of(Operation::kBcast, 2, 65536)) == 2);
    CHECK(shared_copies_of(shape_of(Operation::kBcast, 3, 65536)) == 0);
    CHECK(shared_copies_of(shape_of(Operation::kSync, 3, 0)) == 0);
}

TEST_CASE("the costs of this machine are measured") {
    const CopyCosts costs = measure_copy_costs();
    CHECK(costs.single_start > 0);
    CHECK(costs.single_per_byte >= 0);
    CHECK(costs.shared_per_byte > 0);
}
