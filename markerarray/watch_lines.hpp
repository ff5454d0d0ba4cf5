// pmarray without a terminal: lines of text or JSON for what changes, until the job ends.
#pragma once

#include <functional>
#include <string>

#include "markerarray/job_follower.hpp"
#include "markerarray/pmarray_options.hpp"

namespace poe::markers {

// Writes text, or with none just looks; false when nobody reads any more.
using WriteText = std::function<bool(const std::string&)>;

// Blocks until the job that it found, or waited for, has ended, or nobody reads. False: nobody
// does.
bool watch_in_lines(JobFollower& follower, const ArrayOptions& options, const WriteText& write);

// The job as it is, or that there is none.
bool show_once(JobFollower& follower, const ArrayOptions& options, int columns, bool unicode,
               const WriteText& write);

}  // namespace poe::markers
