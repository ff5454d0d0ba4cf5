// Operations in two levels: right for all ways to put ranks on nodes, and between nodes only what
// leaders send each other.
#include "collectives/algorithms/two_level.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "collectives/algorithms/algorithms.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/chooser.hpp"
#include "collectives/verifier.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

constexpr Operation kInTwoLevels[] = {Operation::kBcast, Operation::kReduce, Operation::kCombine,
                                      Operation::kConcat, Operation::kSync};

Shape shape_on(Operation operation, const std::vector<std::uint32_t>& sizes, Rank root, Bytes bytes,
               bool commutative) {
    Shape shape;
    shape.operation = operation;
    shape.n = 0;
    for (const std::uint32_t size : sizes) {
        shape.nodes.push_back(shape.n);
        shape.n += size;
    }
    shape.root = root % static_cast<Rank>(shape.n);
    shape.bytes = operation == Operation::kSync ? 0 : bytes;
    if (operation == Operation::kReduce || operation == Operation::kCombine) {
        shape.element = commutative ? 1 : 0;
        shape.commutative = commutative;
    }
    return shape;
}

std::uint32_t node_of(const Shape& shape, Rank rank) {
    std::uint32_t node = 0;
    while (node + 1 < shape.nodes.size() &&
           shape.nodes[node + 1] <= static_cast<std::uint32_t>(rank))
        ++node;
    return node;
}

// Bytes, and messages, from node to node.
std::pair<Bytes, std::uint64_t> between_nodes(const Shape& shape, const Generator& generate) {
    std::pair<Bytes, std::uint64_t> sum{0, 0};
    for (Rank rank = 0; rank < static_cast<Rank>(shape.n); ++rank) {
        Schedule schedule;
        generate(rank, schedule);
        for (const Step& step : schedule.steps()) {
            if (step.kind != StepKind::kSend || node_of(shape, rank) == node_of(shape, step.peer))
                continue;
            sum.first += step.length;
            ++sum.second;
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("two levels are right for all kinds of nodes") {
    std::minstd_rand random(11);
    std::vector<std::vector<std::uint32_t>> layouts{{2, 1}, {1, 2}, {4, 4}, {1, 1, 2}, {5, 3, 8}};
    for (int i = 0; i < 60; ++i) {
        std::vector<std::uint32_t> sizes(2 + random() % 7);
        for (std::uint32_t& size : sizes) size = 1 + static_cast<std::uint32_t>(random() % 9);
        sizes[0] += 1;
        layouts.push_back(sizes);
    }
    for (const auto& sizes : layouts) {
        for (const Operation operation : kInTwoLevels) {
            for (const bool commutative : {false, true}) {
                const Shape shape =
                    shape_on(operation, sizes, static_cast<Rank>(random() % 100), 6, commutative);
                CAPTURE(name_of(operation), sizes, shape.root, commutative);
                REQUIRE(two_level_fits(shape));
                REQUIRE(verify(shape, two_level(shape), operation == Operation::kSync) == "");
                const auto [bytes, messages] = between_nodes(shape, two_level(shape));
                // With blocks of unequal nodes: each to all other nodes.
                const Bytes expected = operation == Operation::kConcat
                                           ? (sizes.size() - 1) * shape.n * shape.bytes
                                           : two_level_counts(shape).c3;
                REQUIRE(bytes == expected);
                REQUIRE(messages > 0);
            }
        }
    }
}

TEST_CASE("a network takes two levels, where ranks share nodes") {
    const CostModel network = built_in_tuning(2).network;
    for (const Operation operation : kInTwoLevels) {
        CAPTURE(name_of(operation));
        CHECK(choose(shape_on(operation, {4, 4, 4}, 0, 8, true), network, {}).text() ==
              "two-level");
        CHECK_FALSE(two_level_fits(shape_on(operation, {1, 1, 1, 1}, 0, 8, true)));
        CHECK_FALSE(two_level_fits(shape_on(operation, {4}, 0, 8, true)));
    }
}
