// Operations in two levels: within each node, and between one leader of each node. Made of other
// schedules, which are embedded: their ranks, buffers and rounds become those of the whole.
#pragma once

#include <functional>

#include "collectives/schedule.hpp"
#include "collectives/shape.hpp"

namespace poe::collectives {

// A schedule among some of the ranks, as part of another one.
struct Part {
    Generator generate;
    Rank own = 0;                         // this rank's number among those
    std::function<Rank(Rank)> rank_of;    // the number in the whole of one of those
    std::function<Place(Buffer)> buffer;  // where its given and its result begin; work is new
};
// Writes it behind what is there, and waits for all of it. Rounds count from the phase that `into`
// is in.
void embed(Schedule& into, const Part& part);

// Bcast, reduce, combine, concat and sync. shape.nodes must have two nodes at least.
bool two_level_fits(const Shape& shape);
Generator two_level(const Shape& shape);
// Of what goes between nodes: the rest costs little beside that.
Counts two_level_counts(const Shape& shape);

}  // namespace poe::collectives
