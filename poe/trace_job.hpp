// The trace of a job, from the options to the file: where it comes to be, and what is said of it.
#pragma once

#include <functional>
#include <string>

#include "partition_manager/home/trace_gathering.hpp"
#include "poe/diagnostics.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// Where the trace of a job step is to be, as an absolute path: -tracedir and -tracefile, or the
// program's name with ".trc" in the `directory` that the job is started in. Pure.
std::string trace_path(const Options& options, const std::string& program,
                       const std::string& directory, int step);

// The directory of its parts, and what else the daemons are to know. `temporary`: for streams of
// nodes that cannot see that directory.
pm::TraceSpec make_trace(const Options& options, const std::string& path, const std::string& job,
                         const std::string& temporary);

// Makes the file of what has been gathered, and says so, or where the parts are. Blocks; an
// interrupt (Ctrl-C) ends it. Whatever happens, poe's status does not change.
void finish_trace(const pm::TraceGathering& gathered, const std::string& path,
                  const Diagnostics& diagnostics);

// "poe: trace in heat2d.trc (4 tasks, 1,234,567 records, 29 MB); ..." as finish_trace says it, and
// poe -trace stop.
std::string merge_words(const pm::TraceGathering& gathered, const std::string& path,
                        const std::function<bool()>& stop);

}  // namespace poe::cli
