// When multicast is predicted to be faster than messages.
#include "collectives/selection/multicast_cost.hpp"

#include <numeric>

#include <catch2/catch.hpp>

#include "collectives/selection/catalogue.hpp"

namespace poe::collectives {
namespace {

constexpr double kFastEthernet = 0.08;  // microseconds per byte
constexpr double kGigabit = 0.008;

// A broadcast between nodes with one rank each.
Shape broadcast(Bytes bytes, std::uint32_t n = 16) {
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = n;
    shape.bytes = bytes;
    shape.nodes.resize(n);
    std::iota(shape.nodes.begin(), shape.nodes.end(), 0U);
    return shape;
}

bool is_faster(const Tuning& tuning, const Shape& shape, double time_of_byte) {
    const Choice by_messages = choose(catalogue(), shape, tuning, {});
    return multicast_is_faster(tuning, shape, by_messages, time_of_byte);
}

TEST_CASE("long broadcasts go by multicast on a network that is found to be slow") {
    const Tuning built_in = built_in_tuning(2);
    const Shape shape = broadcast(1 << 20);
    CHECK_FALSE(is_faster(built_in, shape, 0));
    CHECK(is_faster(built_in, shape, kFastEthernet));
    CHECK(is_faster(built_in, shape, kSlowNetwork));
    CHECK_FALSE(is_faster(built_in, shape, kGigabit));
    // What a group finds out may be less than the time that a byte takes.
    CHECK(is_faster(built_in, shape, kFastEthernet / 2));
    CHECK(is_faster(built_in, broadcast(kLeastMeasured), kFastEthernet));
    // Two members: a message is one transmission, too, and needs no reports.
    CHECK_FALSE(is_faster(built_in, broadcast(1 << 20, 2), kFastEthernet));
}

TEST_CASE("what mptune has measured has precedence over what a group finds out") {
    Tuning measured = built_in_tuning(2);
    measured.network.multicast = 90;
    measured.network.multicast_byte = 0.5;
    CHECK_FALSE(is_faster(measured, broadcast(1 << 20), kFastEthernet));
}

}  // namespace
}  // namespace poe::collectives
