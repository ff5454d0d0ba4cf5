// The effect of keys on a View. The help is generated from the same table of keys. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "markerarray/view.hpp"
#include "terminal/key.hpp"

namespace poe::markers {

// The action that the owner of the terminal and the jobs must take after a key.
enum class Command : std::uint8_t {
    kNone,
    kQuit,
    kRepaint,
    kNextJob,
    kListJobs,  // show the list of jobs (Display::kJobs)
    kThisJob,   // follow the selected job of the list
    kSignal,    // send View::signal to the job
    kSuspend
};

// Changes the view. `scene` is what was last drawn, at size `size`. `earliest` is the earliest
// moment that the view may show.
Command press(View& view, const Key& key, const Scene& scene, Size size, Moment earliest);

// The keys and their effect, for the help.
struct KeyHelp {
    std::string_view keys;
    std::string_view what;
};
const std::vector<KeyHelp>& key_help();

}  // namespace poe::markers
