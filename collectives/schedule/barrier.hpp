// Barrier mode (CCL paper, III.C): a call ends at no rank before all ranks have begun it. Some
// operations always have this property. The others get a fan-in of signals before them, or a
// fan-out after them.
#pragma once

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// Returns the same schedules, with the signals that make them a barrier.
Generator with_barrier(const Shape& shape, Generator generate);

}  // namespace poe::collectives
