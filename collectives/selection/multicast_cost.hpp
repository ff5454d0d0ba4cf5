// The predicted time of a broadcast by multicast, beside that of the algorithms (chooser.hpp). It is
// separate from the catalogue, because a multicast is not a schedule of messages.
#pragma once

#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// True if a call can be made by multicast: a broadcast of at least one byte, whose ranks are all on
// different nodes. `nodes` has the form of Shape::nodes.
bool fits_multicast(const Shape& shape, const std::vector<std::uint32_t>& nodes) noexcept;

// Shorter broadcasts are not sent by multicast unless the user or a measurement of mptune wants it: the
// root waits for reports, whereas in a tree of messages it may go on. The model does not count that
// (docs/decisions/055-multicast-in-single-frames.md).
inline constexpr Bytes kMinMulticastBytes = Bytes{128} << 10;

// In microseconds. Every byte goes once through each cable, with the headers of its datagram, or is
// authenticated, whichever takes longer. The members report to the root along a tree. Precondition:
// fits_multicast(placed, placed.nodes).
double predicted_multicast(const Tuning& tuning, const Shape& placed);

}  // namespace poe::collectives
