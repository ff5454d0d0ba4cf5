// Operations in two levels: right for all ways to put ranks on nodes, as many rounds and bytes as
// their formulas say, between nodes only what leaders send each other, and taken where that is
// cheaper.
#include "collectives/selection/two_level.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/barrier.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/chooser.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

constexpr Operation kInTwoLevels[] = {Operation::kBcast,  Operation::kReduce,  Operation::kCombine,
                                      Operation::kPrefix, Operation::kScatter, Operation::kGather,
                                      Operation::kConcat, Operation::kIndex,   Operation::kSync};

using Nodes = std::vector<std::uint32_t>;

// Each node's ranks next to each other.
Nodes in_blocks(const std::vector<std::uint32_t>& sizes) {
    Nodes nodes;
    for (std::uint32_t node = 0; node < sizes.size(); ++node)
        nodes.insert(nodes.end(), sizes[node], node);
    return nodes;
}

// One rank for each node in turn.
Nodes in_turns(std::uint32_t many, std::uint32_t each) {
    Nodes nodes;
    for (std::uint32_t rank = 0; rank < many * each; ++rank) nodes.push_back(rank % many);
    return nodes;
}

// Any other order; nodes are numbered as they come.
Nodes mixed(Nodes nodes, unsigned seed) {
    std::shuffle(nodes.begin(), nodes.end(), std::minstd_rand(seed));
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t& node : nodes)
        node = numbers.emplace(node, static_cast<std::uint32_t>(numbers.size())).first->second;
    return nodes;
}

Shape shape_on(Operation operation, const Nodes& nodes, Rank root, Bytes bytes, bool commutative) {
    Shape shape;
    shape.operation = operation;
    shape.nodes = nodes;
    shape.n = static_cast<std::uint32_t>(nodes.size());
    shape.root = root % static_cast<Rank>(shape.n);
    shape.bytes = operation == Operation::kSync ? 0 : bytes;
    if (operation == Operation::kReduce || operation == Operation::kCombine ||
        operation == Operation::kPrefix) {
        shape.element = commutative ? 1 : 0;
        shape.commutative = commutative;
    }
    return shape;
}

bool has_blocks(Operation operation) {
    return operation == Operation::kScatter || operation == Operation::kGather ||
           operation == Operation::kConcat;
}

bool can_have_fixed_leaders(Operation operation) {
    return operation == Operation::kBcast || operation == Operation::kCombine ||
           operation == Operation::kConcat || operation == Operation::kIndex ||
           operation == Operation::kSync;
}

// Bytes, and messages, from node to node.
struct Traffic {
    Bytes bytes = 0;
    std::uint64_t messages = 0;
};
Traffic between_nodes(const Shape& shape, const Generator& generate) {
    Traffic sum;
    for (std::uint32_t rank = 0; rank < shape.n; ++rank) {
        Schedule schedule;
        generate(static_cast<Rank>(rank), schedule);
        for (const Step& step : schedule.steps()) {
            if (step.kind != StepKind::kSend ||
                shape.nodes[rank] == shape.nodes[static_cast<std::size_t>(step.peer)])
                continue;
            sum.bytes += step.length;
            ++sum.messages;
        }
    }
    return sum;
}

void check_right(const Shape& shape) {
    CAPTURE(name_of(shape.operation), shape.nodes, shape.root, shape.commutative, shape.offsets);
    const bool ordered = std::is_sorted(shape.nodes.begin(), shape.nodes.end());
    const bool wants_order = shape.operation == Operation::kPrefix ||
                             (!shape.commutative && (shape.operation == Operation::kReduce ||
                                                     shape.operation == Operation::kCombine));
    REQUIRE(two_level_fits(shape) == (ordered || !wants_order));
    if (!two_level_fits(shape)) return;
    const Generator generate = two_level(shape, catalogue());
    REQUIRE(verify(shape, generate, shape.operation == Operation::kSync) == "");
    REQUIRE(verify(shape, with_barrier(shape, generate), true) == "");
    const std::uint64_t messages = between_nodes(shape, generate).messages;
    const std::uint64_t nodes = 1 + *std::max_element(shape.nodes.begin(), shape.nodes.end());
    REQUIRE(messages >= nodes - 1);
    REQUIRE(messages <= 2 * nodes * nodes);
    // The steps that hierarchical calls execute: the leaders do not depend on the root.
    if (can_have_fixed_leaders(shape.operation)) {
        const Generator firsts = two_level(shape, catalogue(), Leaders::kFirsts);
        REQUIRE(verify(shape, firsts, shape.operation == Operation::kSync) == "");
    }
}

}  // namespace

TEST_CASE("two levels are right for all kinds of nodes") {
    std::minstd_rand random(11);
    std::vector<Nodes> layouts{in_blocks({2, 1}),    in_blocks({1, 2}), in_blocks({4, 4}),
                               in_blocks({1, 1, 2}), in_turns(2, 2),    in_turns(3, 4),
                               in_blocks({5, 3, 8})};
    for (unsigned i = 0; i < 40; ++i) {
        std::vector<std::uint32_t> sizes(2 + random() % 6);
        for (std::uint32_t& size : sizes) size = 1 + static_cast<std::uint32_t>(random() % 6);
        sizes[0] += 1;
        layouts.push_back(in_blocks(sizes));
        layouts.push_back(mixed(layouts.back(), i));
    }
    for (const Nodes& nodes : layouts) {
        for (const Operation operation : kInTwoLevels) {
            for (const bool commutative : {false, true})
                check_right(
                    shape_on(operation, nodes, static_cast<Rank>(random() % 100), 3, commutative));
            if (!has_blocks(operation)) continue;
            Shape irregular =
                shape_on(operation, nodes, static_cast<Rank>(random() % 100), 0, false);
            irregular.offsets = {0};
            for (std::uint32_t rank = 0; rank < irregular.n; ++rank)
                irregular.offsets.push_back(irregular.offsets.back() + 1 + random() % 4);
            check_right(irregular);
            irregular.offsets.back() = irregular.offsets[irregular.n - 1];
            REQUIRE(verify(irregular, two_level(irregular, catalogue())) == "");
        }
    }
}

TEST_CASE("rounds and bytes of two levels are those of the formula") {
    for (std::uint32_t many = 2; many <= 9; ++many) {
        for (std::uint32_t each = 2; each <= 9; ++each) {
            for (const bool turns : {false, true}) {
                const Nodes nodes =
                    turns ? in_turns(many, each) : in_blocks(std::vector(many, each));
                for (const Operation operation : kInTwoLevels) {
                    Shape shape = shape_on(operation, nodes, 5, many * each, true);
                    shape.exact = true;
                    if (!two_level_fits(shape)) continue;
                    CAPTURE(name_of(operation), many, each, turns);
                    const Counts formula = two_level_counts(shape, catalogue());
                    const Counts within = two_level_within(shape);
                    const Generator generate = two_level(shape, catalogue());
                    const Counts counted = count(shape.n, generate);
                    CAPTURE(counted.c1, counted.c2, counted.c3);
                    CAPTURE(formula.c1, formula.c2, formula.c3);
                    REQUIRE(counted == formula);
                    REQUIRE(between_nodes(shape, generate).bytes == (formula - within).c3);
                    // No more rounds between nodes than the leaders would need alone.
                    REQUIRE((formula - within).c1 <= many - 1);
                }
            }
        }
    }
}

TEST_CASE("a network takes two levels, where ranks share nodes and it is cheaper") {
    const Tuning tuning = built_in_tuning(2);
    const Nodes nodes = in_blocks({4, 4, 4});
    for (const Operation operation : kInTwoLevels) {
        CAPTURE(name_of(operation));
        CHECK(choose(catalogue(), shape_on(operation, nodes, 0, 8, true), tuning, {}).text() ==
              "two-level");
        CHECK_FALSE(two_level_fits(shape_on(operation, in_turns(4, 1), 0, 8, true)));
        CHECK_FALSE(two_level_fits(shape_on(operation, in_blocks({4}), 0, 8, true)));
        // Where a message within a node costs more than one between nodes, levels cost.
        const Tuning upside_down{tuning.network, tuning.node};
        CHECK(choose(catalogue(), shape_on(operation, nodes, 0, 8, true), upside_down, {}).text() !=
              "two-level");
    }
    // As many bytes go between nodes either way: collecting long blocks only costs.
    CHECK(choose(catalogue(), shape_on(Operation::kIndex, nodes, 0, 1 << 20, true), tuning, {})
              .text() != "two-level");
}

TEST_CASE("a shift has nothing to gain from levels") {
    for (std::uint32_t many = 2; many <= 5; ++many) {
        for (std::uint32_t each = 2; each <= 5; ++each) {
            for (int step = 1; step < static_cast<int>(many * each); ++step) {
                Shape shape =
                    shape_on(Operation::kShift, in_blocks(std::vector(many, each)), 0, 7, false);
                shape.step = step;
                shape.circular = true;
                REQUIRE_FALSE(two_level_fits(shape));
                // Already now there is one round, and between nodes only what has to go there: of
                // each rank whose partner is elsewhere its own bytes, once.
                Bytes must = 0;
                for (std::uint32_t rank = 0; rank < shape.n; ++rank) {
                    const std::uint32_t to = (rank + static_cast<std::uint32_t>(step)) % shape.n;
                    if (shape.nodes[rank] != shape.nodes[to]) must += shape.bytes;
                }
                const Generator generate = shift_direct(shape);
                REQUIRE(count(shape.n, generate).c1 == 1);
                REQUIRE(between_nodes(shape, generate).bytes == must);
            }
        }
    }
}
