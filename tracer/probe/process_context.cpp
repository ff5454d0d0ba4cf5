// See process_context.hpp.
#include "tracer/probe/process_context.hpp"

namespace poe {

constinit ProcessContext the_process_context;

}  // namespace poe
