// The predicted time of a call by multicast, beside that of the algorithms (chooser.hpp). It is
// separate from the catalogue, because a multicast is not a schedule of messages.
#pragma once

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

// Calls that send fewer bytes are not sent by multicast unless the user or a measurement of mptune
// wants it. The root of a broadcast waits for reports, whereas in a tree of messages it may go on,
// and in a scatter or concat every member handles the bytes of all others. The model does not count
// either (docs/decisions/076-trains-of-datagrams.md).
constexpr Bytes least_multicast_bytes(Operation operation) noexcept {
    return operation == Operation::kBcast ? Bytes{10} << 10 : Bytes{128} << 10;
}

// The number of times that a transfer by multicast waits for a start-up: of the root, and of each
// level of the report tree.
double multicast_waits(std::uint32_t n) noexcept;

// In microseconds, by what mptune has measured of multicast, or else of messages. A concat is a
// transfer from each member after the other. Every byte goes once through each cable, with the
// headers of its datagram, or is authenticated, whichever takes longer. The members report to the
// root along a tree. Precondition: fits_multicast(placed, placed.nodes).
double predicted_multicast(const Tuning& tuning, const Shape& placed);

}  // namespace poe::collectives
