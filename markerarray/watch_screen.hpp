// pmarray on a terminal: handles signals, keys and frames until the user quits.
#pragma once

#include "markerarray/job_follower.hpp"
#include "markerarray/pmarray_options.hpp"

namespace poe::markers {

struct ScreenOptions {
    bool colors = true;
    bool unicode = true;
};

// Blocks until the user quits (returns 0) or a signal ends it (returns the signal). The terminal
// has then been restored. Throws Error.
int watch_on_screen(JobFollower& follower, const ArrayOptions& options,
                    const ScreenOptions& screen_options);

}  // namespace poe::markers
