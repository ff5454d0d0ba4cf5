// pmarray without a terminal: prints changes as lines of text or JSON, until the job ends.
#pragma once

#include <functional>
#include <string>

#include "markerarray/job_follower.hpp"
#include "markerarray/pmarray_options.hpp"

namespace poe::markers {

// Writes text; an empty text only checks for a reader. Returns false if there is no reader any
// more.
using WriteText = std::function<bool(const std::string&)>;

// Blocks until the job that it found, or waited for, has ended, or until there is no reader; in the
// latter case returns false.
bool watch_in_lines(JobFollower& follower, const ArrayOptions& options, const WriteText& write);

// Prints the current state of the job, or that there is none. Blocks for at most a few seconds.
bool show_once(JobFollower& follower, const ArrayOptions& options, int columns, bool unicode,
               const WriteText& write);

}  // namespace poe::markers
