// The predicted time of a call by multicast, beside that of the algorithms (chooser.hpp). It is
// separate from the catalogue, because a multicast is not a schedule of messages.
#pragma once

#include "collectives/selection/chooser.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// True for the operations that multicast has: broadcast, scatter and concat.
constexpr bool has_multicast(Operation operation) noexcept {
    return operation == Operation::kBcast || operation == Operation::kScatter ||
           operation == Operation::kConcat;
}

// The bytes that a call sends by multicast: those of a broadcast, or of the blocks of all members.
inline Bytes multicast_bytes(const Shape& shape) noexcept {
    return shape.operation == Operation::kBcast ? shape.bytes : shape.span(0, shape.n);
}

// True if a call can be made by multicast: it has such an operation and at least one byte, every
// rank knows the lengths of all blocks, and the ranks are all on different nodes. `nodes` has the
// form of Shape::nodes.
bool fits_multicast(const Shape& shape, const std::vector<std::uint32_t>& nodes) noexcept;

// Calls with fewer bytes go by multicast only if the user or a measurement of mptune wants it,
// because the model omits two costs. The root of a broadcast waits for reports; in a tree of
// messages it would return earlier. In a scatter or concat, every member receives the blocks of all
// members (docs/decisions/076-trains-of-datagrams.md).
constexpr Bytes least_multicast_bytes(Operation operation) noexcept {
    return operation == Operation::kBcast ? Bytes{10} << 10 : Bytes{128} << 10;
}

// The number of times that a transfer by multicast waits for a start-up: of the root, and of each
// level of the report tree.
double multicast_waits(std::uint32_t n) noexcept;

// Returns the time in microseconds, from the costs of multicast that mptune has measured, or else
// from those of messages. A byte costs the longer of two times: that of its datagram on each cable,
// and that of its authentication. The members report to the root along a tree. A concat makes one
// transfer per member, one after the other. Precondition: fits_multicast(placed, placed.nodes).
double predicted_multicast(const Tuning& tuning, const Shape& placed);

// Returns true if multicast is predicted to be faster than the algorithm `by_messages`.
// `time_of_byte` is the time of a byte on the network in microseconds, as the group has measured
// it; 0 means that the tuning's time is used. If mptune has measured the costs of multicast, only
// the tuning is used. Precondition: fits_multicast(placed, placed.nodes).
bool multicast_is_faster(const Tuning& tuning, const Shape& placed, const Choice& by_messages,
                         double time_of_byte);

// The time of a byte on the slowest network that is considered, in microseconds: 80 Mbit/s.
inline constexpr double kSlowNetwork = 0.1;
// The shortest broadcast by messages from which a group can tell how slow its network is
// (connection_use.hpp).
inline constexpr Bytes kLeastMeasured = Bytes{900} << 10;

}  // namespace poe::collectives
