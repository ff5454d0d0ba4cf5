// Drawings of simulated messages: pure functions from messages to text.
#pragma once

#include <string>
#include <vector>

#include "collectives/mpsim/simulator.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// What the messages of an operation show, as text. From a root or to it: a tree, one rank a line
// below the one it hears from first, or the one that it gives to last, with the time; ranks outside
// of it stand at the left. Without a root: a line for each time at which messages arrive, with all
// of them.
std::string messages_text(const Shape& shape, const std::vector<SimulatedMessage>& messages);

// All messages as lines from sender to receiver, time to the right, ranks downwards, as an SVG
// file.
std::string messages_svg(std::uint32_t n, double time,
                         const std::vector<SimulatedMessage>& messages);

}  // namespace poe::collectives
