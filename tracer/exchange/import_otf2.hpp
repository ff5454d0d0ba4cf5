// Import of OTF2 archives (Score-P, EZTrace, python3-otf2 and others): events become streams as our
// tasks would have written them, so that all views, sums and exports work on them.
#pragma once

#include <string>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// Reads the archive of this anchor file (NAME.otf2). All of it is kept in memory, 24 bytes for an
// event and more. Throws Error naming the file.
TraceSource import_otf2(const std::string& anchor);

}  // namespace poe::trace
