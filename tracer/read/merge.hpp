// Merges the streams of a directory into one trace file. poe does this at the end of a run; `vt
// -merge DIR` does it if that was interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/types.hpp"

namespace poe::trace {

struct MergeReport {
    std::string file;                  // the trace; empty: the merge was stopped
    std::size_t tasks = 0;             // number of tasks with a stream
    std::uint64_t records = 0;         // of all streams
    std::uint64_t lost = 0;            // records for which there was no room
    Bytes bytes = 0;                   // of the file
    std::vector<TaskId> absent;        // tasks of the job without a stream
    std::vector<std::string> damaged;  // files of the directory that are not streams
};

// The suffix of the name of a directory with the streams of one job.
inline constexpr std::string_view kPartsSuffix = ".parts";

// Returns the default name of the trace: the directory's name without ".<job>.parts", with ".trc"
// appended if it does not end so.
std::string merged_name(const std::string& directory);

// Merges the streams in `directory`, which must not be written any more, into `output`, and then
// removes them. Removes the directory too if it contains nothing else. Blocks. The file is written
// under a temporary name and renamed, so `output` is never incomplete. Until then the streams stay,
// and the merge can be repeated. If `stop` returns true, the merge ends with an empty `file`; it is
// called regularly. At most a chunk of a stream is in memory. The UserError: there is nothing to
// merge. Throws Error for disk failures.
Result<MergeReport> merge_trace(const std::string& directory, const std::string& output,
                                const std::function<bool()>& stop = {});

}  // namespace poe::trace
