// Putting the streams of a directory together to one trace file. What poe does at the end of a run,
// and `vt -merge DIR` when that was interrupted.
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
    std::string file;                  // the trace; empty: it was stopped
    std::size_t tasks = 0;             // whose streams are in it
    std::uint64_t records = 0;         // of all streams
    std::uint64_t lost = 0;            // that found no room
    Bytes bytes = 0;                   // of the file
    std::vector<TaskId> absent;        // tasks of the job without a stream
    std::vector<std::string> damaged;  // files of the directory that are no streams
};

// Of the name of a directory of streams that belong to one job.
inline constexpr std::string_view kPartsSuffix = ".parts";

// The trace that a directory of streams becomes if nothing else is said: its name without
// ".<job>.parts"; with ".trc" behind it when it does not end so.
std::string merged_name(const std::string& directory);

// Makes `output` out of the streams in `directory`, which nobody may write any more, and then
// removes them and, when nothing else is in it, the directory. Blocks. At no time is there half a
// file under that name: it is written under another one and renamed; whatever happens before, the
// streams stay, and the merge can be made again. `stop` is asked now and then: true ends the merge,
// with an empty `file`. Never holds more than a portion of a stream in memory. The error: there is
// nothing to merge. Throws Error for what the disk did.
Result<MergeReport> merge_trace(const std::string& directory, const std::string& output,
                                const std::function<bool()>& stop = {});

}  // namespace poe::trace
