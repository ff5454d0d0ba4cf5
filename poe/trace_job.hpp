// The trace of a job, from the options to the file: its path, and the messages about it.
#pragma once

#include <functional>
#include <string>

#include "partition_manager/home/trace_gathering.hpp"
#include "poe/diagnostics.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// Returns the absolute path of the trace of a job step: from -tracedir and -tracefile, or the
// program's name with ".trc" in `directory`, in which the job is started. Pure.
std::string trace_path(const Options& options, const std::string& program,
                       const std::string& directory, int step);

// Returns the directory of the trace's parts and the other settings for the daemons. `temporary` is
// used for streams of nodes that cannot see that directory. Throws Error if `path` is no regular
// file.
pm::TraceSpec make_trace(const Options& options, const std::string& path, const std::string& job,
                         const std::string& temporary);

// Merges the gathered streams into the file and reports the result, or where the parts are. Blocks;
// an interrupt (Ctrl-C) stops it. poe's status does not depend on it.
void finish_trace(const pm::TraceGathering& gathered, const std::string& path,
                  const Diagnostics& diagnostics);

// Merges the gathered streams and returns the message of finish_trace and of poe -trace stop:
// "trace in heat2d.trc (4 tasks, 1,234,567 records, 29 MB); ...". Blocks. If `stop` returns true,
// the merge ends.
std::string merge_words(const pm::TraceGathering& gathered, const std::string& path,
                        const std::function<bool()>& stop);

}  // namespace poe::cli
