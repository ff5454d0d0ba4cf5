// Imports OTF2 archives (Score-P, EZTrace, python3-otf2 and others): converts events to streams as
// our tasks would have written them, so that all views, sums and exports can be used.
#pragma once

#include <string>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// Reads the archive of this anchor file (NAME.otf2). The whole trace is in memory, at least 24
// bytes per event. Throws Error that names the file.
TraceSource import_otf2(const std::string& anchor);

}  // namespace poe::trace
