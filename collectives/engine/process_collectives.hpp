// The one collective context of the process. It is part of the engine library, so CCL and MPI in
// one process share it.
#pragma once

#include "collectives/engine/collective_context.hpp"

namespace poe::collectives {

// Creates the context at the first call. It is never destroyed.
CollectiveContext& the_collectives(comm::Runtime& runtime);

}  // namespace poe::collectives
