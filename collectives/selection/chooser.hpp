// Which algorithm a call takes: the cheapest by the model, over the algorithms of the catalogue
// that fit and have formulas. The model is that of the CCL paper (IV.A) with a linear f, its third
// term apart: the rounds take C1 ts + C2 tc, and the work of all ranks together, which share cores
// and memory, takes tm for each message and tn for each byte sent (C3) or copied. It takes the
// longer. Lambda trees are made for the measured lambda, and cost T_lambda(n) of the postal model.
// Where a rank starts all its messages at once, only the last is waited for: the others cost the
// share, 1 / lambda, of their time that they keep their sender busy.
//
// On several nodes messages cost what the tuning says of the network, but for what an algorithm in
// two levels does within nodes; that is added. And a node has one cable: it carries for tc each
// byte that the node's ranks send to other nodes, which without levels is taken to be all but the
// share of the ranks that are on the same node.
//
// Decided once per shape. What was measured to be best for such calls (CostModel::best) counts more
// than the model, and what MP_COLL_<OPERATION> asks for more than both.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// In microseconds. The algorithm must have formulas.
double predicted(const Tuning& tuning, const Shape& shape, const Choice& choice);

struct Candidate {
    Choice choice;
    double time = 0;  // predicted, microseconds
};
// The level whose facts count for such a call: the network when ranks are on several nodes.
const CostModel& level_of(const Tuning& tuning, const Shape& shape);

// `table` has all algorithms: catalogue(), but for the rows of the table itself.
// What the model compares for such a call; never empty. The first of the cheapest is taken.
std::vector<Candidate> candidates(std::span<const Algorithm> table, const Shape& shape,
                                  const Tuning& tuning);

// What was asked for, per operation.
using Overrides = std::array<std::optional<Method>, kOperations>;
// The algorithm that was asked for, with its number, if it fits.
std::optional<Choice> wanted_choice(const Shape& shape, const Overrides& overrides);

// What was asked for if it fits, else what was measured, else the cheapest. Every shape has one
// that fits.
Choice choose(std::span<const Algorithm> table, const Shape& shape, const Tuning& tuning,
              const Overrides& overrides);

}  // namespace poe::collectives
