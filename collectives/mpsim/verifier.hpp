// The verifier runs the schedules of all ranks with symbols instead of data, and says what is wrong
// with them. Each byte of each buffer holds a symbol: which ranks' contributions are in it, in
// which order, and from which position of their buffers they come.
//
// It runs them under the worst of all message systems: a send ends only when its receive has been
// started (the deterministic code of the CCL paper, III.B). What gets through that runs on any.
//
// Found are: results that are wrong, incomplete, or hold a contribution twice or out of rank order
// (where the operation is not commutative); deadlocks; messages that nobody receives or of
// different lengths at both ends; blocks touched while a message is using them, or outside of their
// buffers; a sync that somebody leaves before all have come.
#pragma once

#include <string>

#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// Empty when the schedules do what the shape's operation is to do; otherwise one sentence that
// names rank and step. `barrier`: it is to synchronise the ranks, too. Costs memory and time in
// proportion to all bytes of all ranks: give it small shapes.
std::string verify(const Shape& shape, const Generator& generate, bool barrier = false);

// Whether no rank sends, or receives, two messages in one round, and each message is received in
// the round it was sent in. Empty, or what is wrong.
std::string verify_one_port(std::uint32_t n, const Generator& generate);

}  // namespace poe::collectives
