// Embeds a schedule in another one: its ranks, buffers and rounds are mapped to those of the whole.
// This code does not know operations.
#pragma once

#include <functional>

#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// A schedule among some of the ranks, as part of another schedule.
struct Part {
    Generator generate;
    Rank own = 0;                         // this rank's number among those ranks
    std::function<Rank(Rank)> rank_of;    // maps the number of one of those ranks to its rank in
                                          // the whole
    std::function<Place(Buffer)> buffer;  // start of the part's input and output; scratch is new
};
// Appends the part's steps to `into`, and a wait for all its messages. Its first round is the
// current round of `into`.
void embed(Schedule& into, const Part& part);

}  // namespace poe::collectives
