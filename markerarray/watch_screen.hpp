// pmarray on a terminal: signals, keys and frames, until somebody quits.
#pragma once

#include "markerarray/job_follower.hpp"
#include "markerarray/pmarray_options.hpp"

namespace poe::markers {

struct ScreenOptions {
    bool colors = true;
    bool unicode = true;
};

// Blocks until the user quits (0) or a signal ends it: then the terminal is back as it was, and the
// answer is that signal. Throws Error.
int watch_on_screen(JobFollower& follower, const ArrayOptions& options,
                    const ScreenOptions& screen_options);

}  // namespace poe::markers
