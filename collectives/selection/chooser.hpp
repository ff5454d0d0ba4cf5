// The choice of the algorithm for a call: the cheapest by the model, among the algorithms of the
// catalogue that support the shape and have formulas. The choice is made once per shape. A measured
// best algorithm for such calls (CostModel::best) has precedence over the model, and the algorithm
// that MP_COLL_<OPERATION> names has precedence over both.
//
// The model is that of the CCL paper (IV.A) with a linear f, but its third term is not added: the
// predicted time is the largest of:
//   - rounds: C1 ts + C2 tc;
//   - the work of all ranks, which share cores and memory: tm for each message, and tn for each
//     byte that is sent (C3) or copied;
//   - on several nodes, a node's cables, one for each port: tc for each byte that the ranks of one
//     node send to other nodes. For an algorithm without levels these are all bytes except the
//     share of the ranks that are on the same node.
//
// A lambda tree and a census are made for the measured lambda and cost the time of the postal model
// (Algorithm::postal_time). If a rank starts all its messages at once, only the last one is waited
// for. Each of the others costs 1/lambda of its time, because its sender is busy for that long.
//
// If the model has several ports, the messages that a rank sends in one round, or starts at once,
// take the time of as many rounds as there are messages for each port.
//
// On several nodes, messages have the costs of the network (Tuning::network). Only the part of a
// two-level algorithm within nodes has the costs of a node; it is added.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// The predicted time in microseconds. Precondition: the algorithm has formulas.
double predicted(const Tuning& tuning, const Shape& shape, const Choice& choice);

struct Candidate {
    Choice choice;
    double time = 0;  // predicted, in microseconds
};
// Returns the costs for such a call: those of the network if the ranks are on several nodes,
// otherwise those of a node.
const CostModel& level_of(const Tuning& tuning, const Shape& shape);

// Returns all algorithms that the model compares for such a call; never empty. If several have the
// least time, the first is taken. `table` contains all algorithms. It is catalogue(), but a
// parameter, because rows of the catalogue use these functions themselves.
std::vector<Candidate> candidates(std::span<const Algorithm> table, const Shape& shape,
                                  const Tuning& tuning);

// The method that the user names for each operation, if any.
using Overrides = std::array<std::optional<Method>, kOperations>;
// Returns the algorithm that the user names, with its parameter, if it supports the shape. For an
// irregular index it must also need no lengths that the shape does not have.
std::optional<Choice> wanted_choice(const Shape& shape, const Overrides& overrides);

// Returns the algorithm that the user names, if it supports the shape; otherwise the measured best
// one; otherwise the cheapest one. At least one algorithm supports every shape.
Choice choose(std::span<const Algorithm> table, const Shape& shape, const Tuning& tuning,
              const Overrides& overrides);

}  // namespace poe::collectives
