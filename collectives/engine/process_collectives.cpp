// See process_collectives.hpp.
#include "collectives/engine/process_collectives.hpp"

#include <cstdlib>

#include "collectives/engine/hierarchical_calls.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {

CollectiveContext& the_collectives(comm::Runtime& runtime) {
    CollectiveContext*& context = process_context().collectives;
    if (context == nullptr) [[unlikely]]
        context = new CollectiveContext(
            runtime, [](const char* name) { return std::getenv(name); }, make_hierarchical_calls);
    return *context;
}

}  // namespace poe::collectives
