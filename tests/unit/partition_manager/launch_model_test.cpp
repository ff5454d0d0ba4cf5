// What the tree of a launch is for: who starts a job does no more for many nodes than for few.
#include "tests/bench/launch_model.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace poe::bench;

namespace {

// All nodes alike, and bytes for nothing: only the rounds are left.
NodeDelays rounds_only() {
    NodeDelays delays;
    delays.spread = 0;
    delays.byte_handling = delays.byte_wire = Seconds{0};
    return delays;
}

}  // namespace

TEST_CASE("the root's messages do not grow with the nodes", "[launch_model]") {
    for (const std::uint32_t fanout : {2u, 4u, 16u}) {
        const auto few = model_launch(static_cast<poe::NodeIndex>(fanout), fanout, NodeDelays());
        for (const int nodes : {100, 1000, 3000}) {
            const ModelRun run = model_launch(nodes, fanout, NodeDelays());
            CHECK(run.root_messages == few.root_messages);
            CHECK(run.root_bytes > few.root_bytes);  // all nodes are named in them
        }
    }
    CHECK(model_launch(1000, 1000, NodeDelays()).root_messages ==
          1000 / 16.0 * static_cast<double>(model_launch(1000, 16, NodeDelays()).root_messages));
}

TEST_CASE("each level of full trees takes the same time", "[launch_model]") {
    // 2, 3 and 4 levels of 4.
    const double two = model_launch(4 + 16, 4, rounds_only()).launched.count();
    const double three = model_launch(4 + 16 + 64, 4, rounds_only()).launched.count();
    const double four = model_launch(4 + 16 + 64 + 256, 4, rounds_only()).launched.count();
    const double five = model_launch(4 + 16 + 64 + 256 + 1024, 4, rounds_only()).launched.count();
    CHECK(three > two);
    CHECK(std::abs((four - three) - (three - two)) < 1e-6);
    CHECK(std::abs((five - four) - (three - two)) < 1e-6);
    CHECK(model_launch(340, 4, rounds_only()).depth == 4);
}

TEST_CASE("one that starts all others takes time for each", "[launch_model]") {
    NodeDelays delays = rounds_only();
    const auto flat = [&](poe::NodeIndex nodes) {
        return model_launch(nodes, static_cast<std::uint32_t>(nodes), delays).launched.count();
    };
    CHECK(flat(2000) - flat(1000) > 999 * delays.spawn.count());
    CHECK(model_launch(2000, 16, delays).launched.count() < flat(2000) / 2);
}
