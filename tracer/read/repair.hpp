// Repair of clocks that were not measured well enough, in two steps.
//
// 1. Messages bound how far the clocks of two nodes are off, because none arrives before it was
//    sent: with the measurements and the drift that clocks can have they give each node's clock a
//    range (clock_bounds.hpp). The middle of it is taken, and half of it is what the clock may
//    still be off.
// 2. Where a message arrives before it was sent even so, all that its receiver did from then on is
//    moved forward, so far that it arrives when it was sent. After the controlled logical clock
//    (Becker, Geimer, Rabenseifner, Wolf), without its smoothing.
#pragma once

#include <cstdint>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// Walks through the trace until no message is wrong: what is moved may make others wrong. Times of
// the source change.
Repaired repair_clocks(TraceSource& source);

}  // namespace poe::trace
