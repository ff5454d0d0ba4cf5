// Schedules as parts of schedules: ranks, buffers and rounds of an embedded one become those of the
// whole. Knows no operation.
#pragma once

#include <functional>

#include "collectives/schedule/schedule.hpp"

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

}  // namespace poe::collectives
