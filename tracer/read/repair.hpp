// Repairs clocks that were not measured well enough, in two steps:
//
//   1. Messages bound the errors of two nodes' clocks, because a message is not received before it
//      is sent. Together with the measurements and the possible drift of clocks, they give each
//      node's clock a range (clock_bounds.hpp). The middle of the range is used; half of the range
//      is the remaining uncertainty.
//   2. If a message still arrives before it was sent, all later events of its receiver are moved
//      forward until it arrives when it was sent. This is the controlled logical clock (Becker,
//      Geimer, Rabenseifner, Wolf), without its smoothing.
#pragma once

#include <cstdint>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// Repeats passes over the trace until no message is wrong, because a move may make other messages
// wrong; ends after a limited number. Changes the times of the source.
Repaired repair_clocks(TraceSource& source);

}  // namespace poe::trace
