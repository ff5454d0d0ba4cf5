// The one collective context of the process; see process_collectives.hpp.
#include "collectives/engine/process_collectives.hpp"

#include <cstdlib>

#include "collectives/engine/paths.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {

[[gnu::hot]] CollectiveContext& the_collectives(comm::Runtime& runtime) {
    CollectiveContext*& context = process_context().collectives;
    if (context == nullptr) [[unlikely]] {
        context = new CollectiveContext(
            runtime, [](const char* name) { return std::getenv(name); }, paths());
        if (context->planned() != nullptr)
            std::atexit([] { process_context().collectives->report_plan(); });
    }
    return *context;
}

}  // namespace poe::collectives
