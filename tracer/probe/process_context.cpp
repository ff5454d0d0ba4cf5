// See process_context.hpp.
#include "tracer/probe/process_context.hpp"

#include "tracer/probe/caller_site.hpp"

namespace poe {

constinit ProcessContext the_process_context;

__thread const void* caller_site = nullptr;

}  // namespace poe
