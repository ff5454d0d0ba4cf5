// The verifier executes the schedules of all ranks with symbols instead of data, and reports what
// is wrong with them. Each byte of each buffer holds a symbol, which says which ranks'
// contributions it contains, in which order, and from which position of their buffers they come.
//
// It executes them under the worst possible message system: a send ends only when its receive has
// been started (the deterministic code of the CCL paper, III.B). A schedule that ends under this
// system ends under every one.
//
// It finds:
//   - results that are wrong, incomplete, or contain a contribution twice or out of rank order (if
//     the operation is not commutative);
//   - deadlocks;
//   - messages that are not received, or have different lengths at both ends;
//   - blocks that are accessed while a message uses them, or that exceed their buffers;
//   - a sync that a rank leaves before all have begun it.
#pragma once

#include <string>

#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// Returns an empty text if the schedules perform the operation of the shape; otherwise one sentence
// that names the rank and the step. `barrier`: the operation must also synchronize the ranks. Costs
// memory and time in proportion to all bytes of all ranks, so shapes should be small.
std::string verify(const Shape& shape, const Generator& generate, bool barrier = false);

// Checks that no rank sends two messages, or receives two, in one round, and that each message is
// received in the round in which it was sent. Returns an empty text, or what is wrong.
std::string verify_one_port(std::uint32_t n, const Generator& generate);

}  // namespace poe::collectives
