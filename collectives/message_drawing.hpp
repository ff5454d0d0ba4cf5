// Drawings of simulated messages: pure functions from messages to text.
#pragma once

#include <string>
#include <vector>

#include "collectives/simulator.hpp"

namespace poe::collectives {

// Who hears first from whom, as a tree from `root` on, one rank a line, with the time; ranks that
// hear from nobody stand at the left. For operations that fan in, the same with senders below
// receivers.
std::string tree_text(std::uint32_t n, Rank root, const std::vector<SimulatedMessage>& messages);

// All messages as lines from sender to receiver, time to the right, ranks downwards, as an SVG
// file.
std::string messages_svg(std::uint32_t n, double time,
                         const std::vector<SimulatedMessage>& messages);

}  // namespace poe::collectives
