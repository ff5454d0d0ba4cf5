// Blocks that travel in combined messages: the steps, the schedule that follows them, and the
// decision.
#include "collectives/schedule/combined_steps.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/combined_choice.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

// `nodes` nodes of `per_node` ranks in random order, numbered by their first ranks.
std::vector<std::uint32_t> placed(std::uint32_t nodes, std::uint32_t per_node,
                                  std::minstd_rand& random) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < nodes * per_node; ++i) all.push_back(i % nodes);
    std::shuffle(all.begin(), all.end(), random);
    std::vector<std::uint32_t> number(nodes, nodes);
    std::uint32_t next = 0;
    for (std::uint32_t& each : all) {
        if (number[each] == nodes) number[each] = next++;
        each = number[each];
    }
    return all;
}

Shape irregular(std::vector<std::uint32_t> nodes, std::minstd_rand& random) {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = static_cast<std::uint32_t>(nodes.size());
    shape.whole_matrix = true;
    shape.nodes = std::move(nodes);
    shape.matrix.resize(std::size_t{shape.n} * shape.n);
    for (Bytes& bytes : shape.matrix) bytes = random() % 3 == 0 ? 0 : random() % 12;
    return shape;
}

}  // namespace

TEST_CASE("combined blocks of any lengths reach their destinations") {
    std::minstd_rand random(7);
    for (int i = 0; i < 400; ++i) {
        const std::uint32_t nodes = 1 + random() % 9;
        const std::uint32_t per_node = 1 + random() % 4;
        Shape shape = irregular(placed(nodes, per_node, random), random);
        if (random() % 3 == 0) {  // nodes with different numbers of ranks
            shape.nodes.back() = 0;
            if (random() % 2 == 0) shape.nodes.clear();
        }
        const std::uint32_t radix = 2 + random() % 5;
        CAPTURE(nodes, per_node, radix, shape.nodes);
        REQUIRE(verify(shape, index_combined(shape, radix)) == "");
    }
}

TEST_CASE("the ranks of a node exchange blocks before the nodes do") {
    std::minstd_rand random(1);
    const std::vector<std::uint32_t> nodes = placed(5, 3, random);
    const CombinedLayout layout(15, nodes);
    CHECK(layout.per_node() == 3);
    CHECK(layout.nodes() == 5);
    const std::vector<CombinedStep> steps = combined_steps(layout, 2);
    // Two steps within the node; distances 1, 2 and 4 between nodes.
    REQUIRE(steps.size() == 5);
    std::set<std::uint32_t> distances;
    for (const CombinedStep& step : steps) {
        CHECK(distances.insert(step.distance).second);
        for (std::uint32_t rank = 0; rank < 15; ++rank) {
            CHECK(layout.before(layout.after(rank, step.distance), step.distance) == rank);
            const bool local = nodes[rank] == nodes[layout.after(rank, step.distance)];
            CHECK(local == (step.round == 0));
        }
    }
    CHECK(steps[2].slots.size() == 6);  // distances 1 and 3 of each of three ranks
    CHECK(steps.back().round == 3);
}

TEST_CASE("messages are combined if the model predicts a gain") {
    std::vector<std::uint32_t> nodes(16);
    for (std::uint32_t i = 0; i < 16; ++i) nodes[i] = i;
    const auto decide = [&](Bytes bytes, const CostModel& network) {
        Tuning tuning = built_in_tuning(4);
        tuning.network = network;
        return decide_combined(tuning, nodes, std::vector<Bytes>(256, bytes));
    };
    const CostModel start_ups{40, 0.01, 0, 0, {}};
    const CombinedDecision tiny = decide(8, start_ups);
    CHECK(tiny.radix == 2);
    CHECK(tiny.direct_messages == 15);
    CHECK(tiny.combined_messages == 4);
    CHECK(tiny.combined < tiny.direct / 3);
    CHECK(decide(1024, start_ups).radix > 2);
    CHECK(decide(8192, start_ups).radix == 0);
    // A cable of 100 Mbit/s has more to carry if blocks travel twice.
    CHECK(decide(1024, {5, 0.08, 0, 0, {}}).radix == 0);
    // The work of all messages is shared by few cores.
    CHECK(decide(1024, {5, 0.001, 10, 0.001, {}}).radix != 0);
    // Most blocks are empty: a member sends two messages.
    std::vector<Bytes> ring(256);
    for (std::size_t i = 0; i < 16; ++i)
        ring[i * 16 + (i + 1) % 16] = ring[i * 16 + (i + 15) % 16] = 100;
    CHECK(decide_combined(built_in_tuning(4), nodes, ring).radix == 0);
    // No network.
    CHECK(decide_combined(built_in_tuning(4), std::vector<std::uint32_t>(16),
                          std::vector<Bytes>(256, 8))
              .radix == 0);
}
