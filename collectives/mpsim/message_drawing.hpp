// Drawings of simulated messages: pure functions from messages to text.
#pragma once

#include <string>
#include <vector>

#include "collectives/mpsim/simulator.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// Returns the messages of an operation as text. For an operation with a root: a tree with one rank
// per line, below the rank from which it receives first, or to which it sends last, with the time.
// Ranks outside of the tree are at the left margin. For an operation without a root: a line for
// each time at which messages arrive, with all of these messages.
std::string messages_text(const Shape& shape, const std::vector<SimulatedMessage>& messages);

// Returns an SVG file in which each message is a line from sender to receiver. Time goes to the
// right, ranks go downwards.
std::string messages_svg(std::uint32_t n, double time,
                         const std::vector<SimulatedMessage>& messages);

}  // namespace poe::collectives
