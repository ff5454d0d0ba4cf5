// Barrier mode (CCL paper, III.C): a call ends at no rank before all ranks have begun it. Some
// operations are like that anyway; the others get a fan-in of signals before, or a fan-out after.
#pragma once

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// The same schedules, made into a barrier.
Generator with_barrier(const Shape& shape, Generator generate);

}  // namespace poe::collectives
